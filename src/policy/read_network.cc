#include <array>

#include "base/printable.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

struct Name {
  std::string_view name;
  Network network;
};
constexpr std::array<Name, 3> kNetworks = {
    {{"none", Network::none}, {"loopback", Network::loopback}, {"host", Network::host}}};

// srt's table. Without a proxy that looks at names there is no filtering by them: a list of domains
// is refused, rather than all or none of them allowed in its name.
void read_domains(TableReader& outer, const Node& table, Ceiling& ceiling) {
  TableReader reader(table, "network");
  const TextList allowed = reader.texts("allowedDomains");
  if (allowed && !allowed->value.empty()) {
    reader.wrong(allowed->place,
                 "allowedDomains: filtering by domain is not available, so this cannot be "
                 "enforced: leave the list empty (no network), or write network = \"host\"");
  }
  const TextList denied = reader.texts("deniedDomains");  // nothing is reachable anyway
  if (denied && !allowed) {
    reader.wrong(denied->place,
                 "deniedDomains without allowedDomains: filtering by domain is not available, so "
                 "this cannot be enforced: write network = \"none\" or \"host\"");
  }
  ceiling.network = Placed<Network>{Network::none, table.place};
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

}  // namespace

std::optional<Network> network_named(std::string_view name) {
  for (const auto& [text, network] : kNetworks) {
    if (text == name) return network;
  }
  return std::nullopt;
}

std::string_view name_of(Network network) {
  for (const auto& [text, value] : kNetworks) {
    if (value == network) return text;
  }
  return "unknown";
}

void read_network(TableReader& outer, Ceiling& ceiling) {
  ceiling.unix_sockets = outer.boolean("unix_sockets");
  const Node* value = outer.any("network");
  if (value == nullptr) return;
  if (value->kind == Node::Kind::table) {
    read_domains(outer, *value, ceiling);
    return;
  }
  if (value->kind != Node::Kind::text) {
    outer.wrong_type("network", *value, "\"none\", \"loopback\" or \"host\"");
    return;
  }
  const auto network = network_named(value->text);
  if (!network) {
    outer.wrong(value->place, "network \"" + base::printable(value->text) +
                                  "\": there are \"none\", \"loopback\" and \"host\"");
    return;
  }
  ceiling.network = Placed<Network>{*network, value->place};
}

}  // namespace cordon::policy
