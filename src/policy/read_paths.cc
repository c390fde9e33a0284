#include "base/paths.h"
#include "base/printable.h"
#include "policy/read_parts.h"

namespace cordon::policy {

std::string checked_path(TableReader& reader, const Placed<std::string>& path,
                         const PathContext& context) {
  std::string text = path.value;
  if (text == "~" || text.starts_with("~/")) {
    if (context.home.empty()) {
      reader.wrong(path.place, "\"~\", but you have no home directory: write the path from / on");
      return text;
    }
    text = context.home + text.substr(1);
  }
  const auto normal = base::normalise(text);
  if (!normal) {
    reader.wrong(path.place, "\"" + base::printable(path.value) +
                                 "\" is not an absolute path without \"..\": write it as one");
    return text;
  }
  if (normal->contains('*')) {
    reader.wrong(path.place, "\"" + base::printable(path.value) +
                                 "\" has a \"*\", but paths are no patterns: name the directory, "
                                 "which stands for all below it");
  }
  return *normal;
}

TextList path_list(TableReader& reader, std::string_view name, const PathContext& context) {
  TextList list = reader.texts(name);
  if (!list) return list;
  for (auto& path : list->value) path.value = checked_path(reader, path, context);
  return list;
}

namespace {

// Of a caller without a home directory nothing in it has to be kept.
TextList denied_list(TableReader& reader, std::string_view name, const PathContext& context) {
  TextList list = reader.texts(name);
  if (!list) return list;
  if (context.home.empty()) {
    std::erase_if(list->value, [](const Placed<std::string>& path) {
      return path.value == "~" || path.value.starts_with("~/");
    });
  }
  for (auto& path : list->value) path.value = checked_path(reader, path, context);
  return list;
}

// Only what is kept may be promised: a sandbox always shows the system's directories.
void check_denied(TableReader& reader, const TextList& denied) {
  if (!denied) return;
  for (const auto& path : denied->value) {
    if (!base::in_system_directory(path.value)) continue;
    reader.wrong(path.place, "\"" + base::printable(path.value) +
                                 "\" cannot be denied: every sandbox shows the system's "
                                 "directories; remove it");
  }
}

void add(TextList& to, const TextList& more) {
  if (!more) return;
  if (!to) {
    to = more;
    return;
  }
  to->value.insert(to->value.end(), more->value.begin(), more->value.end());
}

}  // namespace

void read_paths(TableReader& outer, const PathContext& context, Ceiling& ceiling) {
  PathRules& rules = ceiling.paths;
  rules.cwd = path_list(outer, "allowed_paths", context);
  if (const Node* table = outer.table("paths")) {
    TableReader reader(*table, "paths");
    add(rules.cwd, path_list(reader, "cwd", context));
    rules.read = path_list(reader, "read", context);
    rules.write = path_list(reader, "write", context);
    rules.rootfs = path_list(reader, "rootfs", context);
    rules.deny_read = denied_list(reader, "deny_read", context);
    rules.deny_write = denied_list(reader, "deny_write", context);
    // Both at once.
    const TextList deny = denied_list(reader, "deny", context);
    add(rules.deny_read, deny);
    add(rules.deny_write, deny);
    check_denied(reader, rules.deny_read);
    if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  }
  if (const Node* table = outer.table("grants")) {
    TableReader reader(*table, "grants");
    ceiling.grants.read = path_list(reader, "read", context);
    ceiling.grants.write = path_list(reader, "write", context);
    if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  }
}

// srt's: reading is allowed but for denyRead (and allowRead inside it), writing only in allowWrite.
void read_filesystem(TableReader& outer, const PathContext& context, Ceiling& ceiling) {
  const Node* table = outer.table("filesystem");
  if (table == nullptr) return;
  TableReader reader(*table, "filesystem");
  PathRules& rules = ceiling.paths;
  const TextList denied = path_list(reader, "denyRead", context);
  check_denied(reader, denied);
  add(rules.deny_read, denied);
  add(rules.deny_write, denied);  // to write is to read here
  add(rules.deny_write, path_list(reader, "denyWrite", context));
  add(rules.write, path_list(reader, "allowWrite", context));
  if (!rules.write) rules.write.emplace(Texts{}, table->place);
  if (const TextList allowed = path_list(reader, "allowRead", context)) {
    for (const auto& path : allowed->value) {
      if (!denied) break;
      for (const auto& no : denied->value) {
        if (!base::at_or_below(path.value, no.value)) continue;
        reader.wrong(path.place, "allowRead of \"" + base::printable(path.value) +
                                     "\" inside denyRead of \"" + base::printable(no.value) +
                                     "\": here what is denied stays denied; deny less");
      }
    }
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

}  // namespace cordon::policy
