#include "policy/manifest.h"

#include <algorithm>

#include "base/paths.h"
#include "base/printable.h"
#include "policy/env_names.h"
#include "policy/read_json.h"
#include "policy/read_parts.h"
#include "policy/read_toml.h"

namespace cordon::policy {
namespace {

constexpr std::size_t kLongestName = 100;

bool has_parent_part(std::string_view path) {
  return !base::normalise("/" + std::string(path)).has_value();
}

// A name becomes part of the name of a directory.
void check_name(TableReader& reader, const Placed<std::string>& name, std::string_view what) {
  const std::string& text = name.value;
  const auto refuse = [&](const std::string& why) {
    reader.wrong(name.place, std::string(what) + " \"" + base::printable(text) + "\" " + why);
  };
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (text.empty()) refuse("is empty: give it one");
  if (text.size() > kLongestName) refuse("is longer than 100 bytes: shorten it");
  if (std::ranges::any_of(text, is_control)) {
    refuse("has a line break or another control character: remove it");
  }
  if (has_parent_part(text) || text == "." || text == "/") {
    refuse("has a part that is \"..\" or nothing but a directory: choose a plain name");
  }
}

// What is inside the bundle has to stay there.
void check_inside(TableReader& reader, const Placed<std::string>& path, std::string_view what) {
  const auto refuse = [&](const std::string& why) {
    reader.wrong(path.place, std::string(what) + " \"" + base::printable(path.value) + "\" " + why);
  };
  if (path.value.empty()) refuse("is empty: name it");
  if (path.value.starts_with('/')) {
    refuse(
        "is an absolute path: a manifest names what is in its own directory, or a program by "
        "its name alone");
  } else if (has_parent_part(path.value)) {
    refuse("leads out of the manifest's directory by \"..\": name what is inside");
  }
}

void check_grant(TableReader& reader, const Placed<std::string>& path) {
  if (path.value.empty() || has_parent_part(path.value)) {
    reader.wrong(path.place, "\"" + base::printable(path.value) +
                                 "\" is empty or has \"..\": write an absolute path, or one inside "
                                 "the manifest's directory");
  }
}

void add_variable(TableReader& reader, Manifest& manifest, const std::string& name,
                  const std::string& value, const Place& place) {
  if (!is_env_name(name)) {
    reader.wrong(place, "\"" + base::printable(name) +
                            "\" is no name of a variable: use letters, digits and _");
  }
  if (value.contains('\0')) reader.wrong(place, "a NUL byte in a variable: remove it");
  manifest.env.push_back({name, {value, place}});
}

// ["NAME=value"] or {NAME = "value"}.
void read_variables(TableReader& reader, Manifest& manifest) {
  const Node* env = reader.any("env");
  if (env == nullptr) return;
  if (env->kind == Node::Kind::table) {
    for (const Member& member : env->members) {
      if (member.value.kind != Node::Kind::text) {
        reader.wrong_type("env." + member.name, member.value, "a text");
      }
      add_variable(reader, manifest, member.name, member.value.text, member.value.place);
    }
    return;
  }
  const auto list = reader.texts("env");
  if (!list) return;
  for (const auto& entry : list->value) {
    const std::size_t equals = entry.value.find('=');
    if (equals == std::string::npos) {
      reader.wrong(entry.place,
                   "\"" + base::printable(entry.value) + "\" has no value: write NAME=value");
      continue;
    }
    add_variable(reader, manifest, entry.value.substr(0, equals), entry.value.substr(equals + 1),
                 entry.place);
  }
}

void read_security(TableReader& outer, Manifest& manifest) {
  const Node* table = outer.table("security");
  if (table == nullptr) return;
  TableReader reader(*table, "security");
  read_variables(reader, manifest);
  if (auto read = reader.texts("read")) manifest.read = std::move(read->value);
  if (auto write = reader.texts("write")) manifest.write = std::move(write->value);
  for (const Texts* list : {&manifest.read, &manifest.write}) {
    for (const auto& path : *list) check_grant(reader, path);
  }
  if (const auto network = reader.text("network")) {
    const auto value = network_named(network->value);
    if (!value) {
      reader.wrong(network->place, "network: there are \"none\", \"loopback\" and \"host\"");
    }
    manifest.network = Placed<Network>{value.value_or(Network::none), network->place};
  }
  read_limits(reader, "limits", manifest.limits);
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

void read_entrypoint(TableReader& outer, Manifest& manifest) {
  const Node* table = outer.table("entrypoint");
  if (table == nullptr) {
    outer.wrong(manifest.place, "\"entrypoint\" is missing: say what to run by its \"command\"");
    return;
  }
  TableReader reader(*table, "entrypoint");
  if (auto command = reader.text("command")) {
    check_inside(reader, *command, "the command");
    manifest.command = *std::move(command);
  } else {
    reader.wrong(table->place, "\"command\" is missing in entrypoint: say what to run");
  }
  if (const auto args = reader.texts("args")) {
    for (const auto& arg : args->value) manifest.args.push_back(arg.value);
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

}  // namespace

Result<Manifest> read_manifest(std::string_view text, const std::string& file) {
  const auto tree = file.ends_with(".json") ? read_json(text, file) : read_toml(text, file);
  if (!tree) return std::unexpected(tree.error());
  Manifest manifest{.place = {.file = file}};
  TableReader reader(*tree, "");
  for (const auto& [key, field] :
       {std::pair{"name", &manifest.name}, {"version", &manifest.version}}) {
    const auto value = reader.text(key);
    if (!value) {
      reader.wrong(manifest.place, "\"" + std::string(key) + "\" is missing: add it");
      continue;
    }
    check_name(reader, *value, key);
    *field = value->value;
  }
  read_entrypoint(reader, manifest);
  manifest.cwd = reader.text("cwd");
  if (manifest.cwd) check_inside(reader, *manifest.cwd, "cwd");
  read_security(reader, manifest);
  if (auto finished = reader.finish(); !finished) return std::unexpected(finished.error());
  return manifest;
}

}  // namespace cordon::policy
