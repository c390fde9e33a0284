#include "policy/document.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/printable.h"
#include "base/suggest.h"
#include "policy/read_json.h"
#include "policy/read_toml.h"

namespace cordon::policy {
namespace {

constexpr std::array<std::string_view, 4> kBackends = {"linux", "posix", "gvisor", "memory"};

void read_backends(TableReader& reader, Ceiling& ceiling) {
  ceiling.backends = reader.texts("backends");
  if (!ceiling.backends) return;
  for (const auto& name : ceiling.backends->value) {
    if (std::ranges::find(kBackends, name.value) != kBackends.end()) continue;
    const std::string_view near = base::nearest(name.value, kBackends);
    reader.wrong(name.place, "\"" + base::printable(name.value) + "\" is no backend" +
                                 (near.empty() ? ": there are linux, posix, gvisor and memory"
                                               : ": did you mean \"" + std::string(near) + "\"?"));
  }
}

// What a file and a profile have in common.
void read_ceiling(TableReader& reader, const PathContext& context, Ceiling& ceiling) {
  read_limits(reader, "limits", ceiling.limits);
  read_limits(reader, "defaults", ceiling.defaults);
  read_programs(reader, ceiling);
  read_paths(reader, context, ceiling);
  read_filesystem(reader, context, ceiling);
  read_network(reader, ceiling);
  read_environment(reader, ceiling.env);
  read_audit(reader, context, ceiling);
  read_secrets(reader, context, ceiling);
  read_tools(reader, context, ceiling);
  ceiling.users = reader.texts("users");
  read_backends(reader, ceiling);
}

void read_profiles(TableReader& outer, const std::string& file, const PathContext& context,
                   Document& document) {
  const Node* profiles = outer.table("profiles");
  if (profiles == nullptr) return;
  for (const Member& member : profiles->members) {
    Ceiling ceiling{.name = to_string({.file = file}) + ", profile " + base::printable(member.name),
                    .place = member.value.place,
                    .is_root = false};
    TableReader reader(member.value, "profiles." + member.name);
    read_ceiling(reader, context, ceiling);
    if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
    document.profiles.emplace(member.name, std::move(ceiling));
  }
}

}  // namespace

Result<Document> read_document(std::string_view text, const std::string& file,
                               const PathContext& context) {
  const auto tree = file.ends_with(".json") ? read_json(text, file) : read_toml(text, file);
  if (!tree) return std::unexpected(tree.error());

  Document document;
  document.ceiling.name = to_string({.file = file});
  document.ceiling.place = {.file = file};
  TableReader reader(*tree, "");
  if (auto includes = reader.texts("include")) document.includes = std::move(includes->value);
  read_ceiling(reader, context, document.ceiling);
  read_profiles(reader, file, context, document);
  if (auto finished = reader.finish(); !finished) return std::unexpected(finished.error());
  return document;
}

}  // namespace cordon::policy
