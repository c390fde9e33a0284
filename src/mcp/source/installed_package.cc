#include "mcp/source/installed_package.h"

#include <boost/json/parse.hpp>

#include "base/paths.h"
#include "mcp/json_view.h"

namespace cordon::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~";

bool is_plain(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && !name.starts_with('-') &&
         name.find_first_not_of(kPlain) == std::string_view::npos;
}

// "name" or "@scope/name", so that it is a path of one or two plain names.
bool is_package_name(std::string_view name) {
  if (!name.starts_with('@')) return is_plain(name);
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_plain(name.substr(1, slash - 1)) &&
         is_plain(name.substr(slash + 1));
}

bool is_exact(std::string_view version) {
  return !version.empty() && version.find_first_of("0123456789") == 0 &&
         version.find_first_not_of("0123456789.+-abcdefghijklmnopqrstuvwxyz") ==
             std::string_view::npos &&
         version.contains('.') && !version.contains('x');
}

// The one program of the package, or the one that is called like it.
std::optional<std::string> bin_of(const json::object& package, std::string_view name) {
  const json::value* const bin = package.if_contains("bin");
  if (bin == nullptr) return std::nullopt;
  if (bin->is_string()) return std::string(bin->get_string());
  if (!bin->is_object()) return std::nullopt;
  const json::object& all = bin->get_object();
  const json::value* chosen = all.if_contains(name.substr(name.rfind('/') + 1));
  if (chosen == nullptr && all.size() == 1) chosen = &all.begin()->value();
  if (chosen == nullptr || !chosen->is_string()) return std::nullopt;
  return std::string(chosen->get_string());
}

std::optional<std::string> program_in(const std::string& directory, const std::string& text,
                                      const NpxCall& call) {
  const auto checked = check_json(text, {});
  if (!checked) return std::nullopt;
  json::error_code error;
  const json::value value = json::parse(*checked, error);
  if (error || !value.is_object()) return std::nullopt;
  const json::object& package = value.get_object();
  const json::value* const version = package.if_contains("version");
  const bool right = call.version.empty() || (version != nullptr && version->is_string() &&
                                              version->get_string() == call.version);
  if (!right) return std::nullopt;
  const auto bin = bin_of(package, call.name);
  if (!bin) return std::nullopt;
  return base::normalise(directory + "/" + *bin);  // nothing if it leads out by ".."
}

}  // namespace

std::optional<NpxCall> parse_npx(std::span<const std::string> args) {
  std::size_t at = 0;
  while (at < args.size() && (args[at] == "-y" || args[at] == "--yes" || args[at] == "--")) ++at;
  if (at == args.size()) return std::nullopt;
  const std::string& package = args[at];
  const std::size_t sign = package.find('@', 1);
  NpxCall call{.name = package.substr(0, sign)};
  if (sign != std::string::npos) call.version = package.substr(sign + 1);
  if (!is_package_name(call.name)) return std::nullopt;
  // "latest" may be another tomorrow, but what is installed is the one to be had without network.
  if (call.version == "latest") call.version.clear();
  if (!call.version.empty() && !is_exact(call.version)) return std::nullopt;
  call.args.assign(args.begin() + static_cast<std::ptrdiff_t>(at) + 1, args.end());
  return call;
}

std::optional<std::string> installed_program(const NpxCall& call,
                                             std::span<const std::string> node_modules,
                                             const InstalledLookups& lookups) {
  for (const std::string& place : node_modules) {
    const std::string directory = place + "/" + call.name;
    const auto text = lookups.read(directory + "/package.json");
    if (!text) continue;
    if (auto program = program_in(directory, *text, call)) return program;
  }
  return std::nullopt;
}

}  // namespace cordon::mcp
