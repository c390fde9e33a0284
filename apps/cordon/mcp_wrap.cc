#include "mcp_wrap.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "backend/posix/lookup.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "command_line.h"
#include "concat.h"
#include "mcp/source/wrap_config.h"
#include "mcp_command.h"
#include "mcp_wrap_file.h"
#include "message.h"
#include "run_options.h"
#include "terminal.h"

namespace cordon::app {
namespace {

constexpr std::string_view kHelp = "cordon mcp --help";

constexpr auto kSpecs = std::to_array<OptionSpec>({
    {"--name", "NAME", "only this server; repeatable"},
    {"--yes", "", "write without asking"},
    {"--dry-run", "", "show what would change, and write nothing"},
    {"--json", "", "print one JSON object"},
    {"--help", "", "print this"},
});

struct Asked {
  std::string file{};
  mcp::WrapAsk wrap{};
  bool yes = false;
  bool dry_run = false;
  bool json = false;
  bool help = false;
};

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

// A mistake must show now, and not when the client starts its servers.
Result<void> check_run_options(const std::vector<std::string>& options) {
  std::vector<std::string> line = options;
  line.insert(line.end(), {"--", "server"});
  const auto parsed = parse_run_options(std::move(line));
  if (!parsed) {
    return bad_usage(concat("behind FILE come options of run, and those of wrap before it: ",
                            parsed.error().message));
  }
  if (parsed->help || parsed->json || parsed->log.transport != Transport::stdio ||
      parsed->secrets.redact.value_or(false) || !parsed->manifest.empty()) {
    return bad_usage("--help, --json, --redact, --transport and --manifest are not for servers");
  }
  if (parsed->request.program != "server") {
    return bad_usage(concat("\"", base::printable(parsed->request.program),
                            "\" behind FILE is no option of run"));
  }
  return {};
}

Result<Asked> parse(WrapVerb verb, std::vector<std::string> arguments) {
  auto line = parse_command_line(kSpecs, std::move(arguments));
  if (!line) return std::unexpected(std::move(line.error()));
  Asked asked;
  for (const auto& [index, value] : line->options) {
    const std::string_view name = kSpecs[index].name;
    if (name == "--name") asked.wrap.names.push_back(value);
    asked.yes = asked.yes || name == "--yes";
    asked.dry_run = asked.dry_run || name == "--dry-run";
    asked.json = asked.json || name == "--json";
    asked.help = asked.help || name == "--help";
  }
  if (asked.help) return asked;
  auto& operands = line->operands;
  if (operands.empty()) return bad_usage("name the client's file");
  asked.file = std::move(operands.front());
  operands.erase(operands.begin());
  if (!operands.empty() && operands.front() == "--") operands.erase(operands.begin());
  if (verb == WrapVerb::unwrap && !operands.empty()) {
    return bad_usage("unwrap takes one file, and its options before it");
  }
  if (auto good = check_run_options(operands); !good) return std::unexpected(good.error());
  asked.wrap.run_options = std::move(operands);
  return asked;
}

// As the user would call it, if that is this very program: it then stays right after an update.
Result<std::string> own_command() {
  std::error_code error;
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  if (error) return base::fail_os("client config", error.value(), "finding the command itself");
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> environment = {concat("PATH=", path == nullptr ? "" : path)};
  const auto found = posix::find_program("cordon", environment);
  if (found && std::filesystem::canonical(*found, error) == self && !error) return *found;
  return self.string();
}

std::string_view change_name(WrapVerb verb, mcp::ServerChange::Kind kind) {
  switch (kind) {
    case mcp::ServerChange::Kind::changed:
      return verb == WrapVerb::wrap ? "wrapped" : "unwrapped";
    case mcp::ServerChange::Kind::already:
      return "as it is";
    case mcp::ServerChange::Kind::unfit:
      return "left alone";
  }
  return "";
}

struct Done {
  bool written = false;
  std::string backup{};
};

std::string json_of(WrapVerb verb, const ConfigFile& file, const mcp::Rewritten& rewritten,
                    const std::string& diff, const Done& done) {
  std::string servers;
  for (const mcp::ServerChange& server : rewritten.servers) {
    servers += concat(servers.empty() ? "" : ",",
                      base::JsonObject()
                          .add("name", base::json_text(server.name))
                          .add("change", base::json_text(change_name(verb, server.kind)))
                          .add("note", base::json_text_or_null(server.note))
                          .str());
  }
  return concat(base::JsonObject()
                    .add("file", base::json_text(file.path))
                    .add("changes", base::json_bool(!rewritten.edits.empty()))
                    .add("written", base::json_bool(done.written))
                    .add("backup", base::json_text_or_null(done.backup))
                    .add("servers", concat("[", servers, "]"))
                    .add("diff", base::json_text(diff))
                    .str(),
                "\n");
}

std::string text_of(WrapVerb verb, const mcp::Rewritten& rewritten) {
  std::string text;
  for (const mcp::ServerChange& server : rewritten.servers) {
    text += concat(base::printable(server.name), ": ", change_name(verb, server.kind),
                   server.note.empty() ? "" : concat(" (", server.note, ")"), "\n");
  }
  return text.empty() ? "There is no server in it.\n" : text;
}

// Whether a person at the terminal agrees.
bool agreed() {
  if (print("Write this? [y/N] ") != 0) return false;
  std::array<char, 64> answer{};
  const ssize_t got = ::read(STDIN_FILENO, answer.data(), answer.size());
  return got > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

Result<Done> write(WrapVerb verb, const ConfigFile& file, const std::string& text) {
  Done done;
  if (verb == WrapVerb::wrap) {
    auto backup = back_up(file);
    if (!backup) return std::unexpected(std::move(backup.error()));
    done.backup = *std::move(backup);
  }
  if (auto replaced = replace_config(file, text); !replaced) {
    if (!done.backup.empty()) ::unlink(done.backup.c_str());
    return std::unexpected(std::move(replaced.error()));
  }
  done.written = true;
  return done;
}

int failed(const Error& error) {
  if (error.stage == "usage") return usage_error(error.message, kHelp);
  complain(error.message);
  return kOwnFailure;
}

}  // namespace

int mcp_wrap(WrapVerb verb, std::vector<std::string> arguments) {
  auto asked = parse(verb, std::move(arguments));
  if (!asked) return failed(asked.error());
  if (asked->help) return print(mcp_help());
  auto command = own_command();
  if (!command) return failed(command.error());
  asked->wrap.cordon = *std::move(command);

  const auto file = read_config(asked->file);
  if (!file) return failed(file.error());
  const auto rewritten = verb == WrapVerb::wrap
                             ? mcp::wrap_config(file->text, asked->file, asked->wrap)
                             : mcp::unwrap_config(file->text, asked->file, asked->wrap.names);
  if (!rewritten) return failed(rewritten.error());

  const bool changes = !rewritten->edits.empty();
  const std::string diff =
      changes ? mcp::diff_of(file->text, rewritten->edits, asked->file) : std::string();
  if (!asked->json && print(concat(diff, text_of(verb, *rewritten))) != 0) return kOwnFailure;
  Done done;
  if (changes && !asked->dry_run) {
    if (!asked->yes && (asked->json || !is_terminal(STDIN_FILENO))) {
      return usage_error("nothing was written: nobody can be asked here, so say --yes", kHelp);
    }
    if (!asked->yes && !agreed()) return print("Nothing was written.\n");
    auto written = write(verb, *file, mcp::apply_edits(file->text, rewritten->edits));
    if (!written) return failed(written.error());
    done = *std::move(written);
  }
  if (asked->json) return print(json_of(verb, *file, *rewritten, diff, done));
  if (done.backup.empty()) return 0;
  return print(concat("The file as it was: ", base::printable(done.backup),
                      "\nServers have no network and see nothing of yours but what options of run "
                      "grant them: see cordon mcp --help.\n"));
}

}  // namespace cordon::app
