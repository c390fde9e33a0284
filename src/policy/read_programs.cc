#include <algorithm>
#include <cctype>

#include "base/paths.h"
#include "base/printable.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

// Absolute and normal; a "*" may stand for anything.
Placed<std::string> program_path(TableReader& reader, const Placed<std::string>& path) {
  const auto normal = base::normalise(path.value);
  if (!normal) {
    reader.wrong(path.place, "\"" + base::printable(path.value) +
                                 "\" is not an absolute path without \"..\": write where the "
                                 "program is, links resolved");
    return path;
  }
  return {*normal, path.place};
}

Ask<std::string> read_digest(TableReader& reader) {
  auto digest = reader.text("sha256");
  if (!digest) return digest;
  std::string& text = digest->value;
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    reader.wrong(digest->place, "sha256 has to be 64 hexadecimal digits, as sha256sum prints them");
  }
  return digest;
}

ProgramRule read_program(TableReader& outer, const Node& table) {
  TableReader reader(table, "program");
  ProgramRule rule;
  if (auto path = reader.text("path")) {
    rule.path = program_path(reader, *path);
  } else {
    reader.wrong(table.place, "a program without \"path\": say which one it is about");
  }
  rule.sha256 = read_digest(reader);
  rule.arguments.exact = reader.texts("args");
  rule.arguments.prefix = reader.texts("args_prefix");
  rule.arguments.pattern = reader.texts("args_pattern");
  if (rule.sha256 && rule.path.value.contains('*')) {
    reader.wrong(rule.sha256->place, "sha256 of a pattern: name the one program it belongs to");
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  return rule;
}

}  // namespace

void read_programs(TableReader& outer, Ceiling& ceiling) {
  if (const auto paths = outer.texts("allowed_programs")) {
    ceiling.programs.emplace();
    ceiling.programs_place = paths->place;
    for (const auto& path : paths->value) {
      ceiling.programs->push_back({.path = program_path(outer, path)});
    }
  }
  if (const Node* list = outer.any("program")) {
    if (list->kind != Node::Kind::array) {
      outer.wrong_type("program", *list, "a list of tables: write [[program]]");
      return;
    }
    if (!ceiling.programs) {
      ceiling.programs.emplace();
      ceiling.programs_place = list->place;
    }
    for (const Node& item : list->items) ceiling.programs->push_back(read_program(outer, item));
  }
  ceiling.denied_programs = outer.texts("denied_programs");
  if (!ceiling.denied_programs) return;
  for (auto& path : ceiling.denied_programs->value) path = program_path(outer, path);
}

}  // namespace cordon::policy
