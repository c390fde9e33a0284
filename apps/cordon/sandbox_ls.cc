#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "message.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_store.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {
namespace {

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    text += base::printable(word);
  }
  return text;
}

std::string table(const std::vector<Found>& all) {
  std::size_t width = 4;
  for (const Found& found : all) width = std::max(width, found.record.name.size());
  std::string text = fmt::format("{:<{}}  {:<12}  {:<7}  {:<20}  {}\n", "NAME", width, "STATE",
                                 "BACKEND", "CREATED", "COMMAND");
  for (const auto& [record, supervised] : all) {
    (void)supervised;
    text += fmt::format("{:<{}}  {:<12}  {:<7}  {:<20}  {}\n", record.name, width,
                        to_string(record.state), record.backend, record.created.substr(0, 19) + 'Z',
                        command_text(record.command));
  }
  return text;
}

std::string json(const std::vector<Found>& all) {
  std::string text;
  for (const Found& found : all) text += (text.empty() ? "" : ",") + to_json(found.record);
  return R"({"schema":"cordon.sandbox.ls/1","sandboxes":[)" + text + "]}\n";
}

}  // namespace

int ls_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--json", "--help"}, .name = false};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  const auto all = list_and_sweep();
  if (!all) return failed(all.error());
  return print(line->json ? json(*all) : table(*all));
}

}  // namespace cordon::app::sandbox
