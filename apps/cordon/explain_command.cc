#include "explain_command.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <expected>
#include <string>
#include <utility>

#include "audit/index.h"
#include "audit/reader.h"
#include "audit/record.h"
#include "audit_arguments.h"
#include "base/errors.h"
#include "base/printable.h"
#include "command_line.h"
#include "concat.h"
#include "denial_text.h"
#include "message.h"

namespace cordon::app {
namespace {

namespace json = boost::json;

constexpr const char* kHelp = "cordon explain --help";
constexpr int kNoSuchRun = 1;

constexpr std::string_view kText =
    R"(Usage: cordon explain [--audit DIR] [--json] [ID]

Tells again what a run with --explain was refused, and what would allow it.
ID is the run's, or how it begins; without one the last run is meant that
was explained. Such runs are in the audit log: that of --audit or of the
policy, or else that in $XDG_STATE_HOME/cordon/audit, or if that is not set
in /var/log/cordon/audit for root and ~/.local/state/cordon/audit for others.

  --audit DIR  the log
  --json       print an array of objects, as in the outcome
  --help       print this

Exit status: 0; 1 there is no such run, or it was not explained; 125 the log
cannot be read.

Examples:
  cordon run --explain -- python3 script.py
  cordon explain
  cordon explain --json 3f8a
)";

struct Question {
  std::string directory = default_audit_directory();
  std::string run;  // empty: the last one
  bool json = false;
  bool help = false;
};

Result<Question> parse(std::vector<std::string> arguments) {
  constexpr auto kOptions =
      std::to_array<OptionSpec>({{"--audit", "DIR", ""}, {"--json", "", ""}, {"--help", "", ""}});
  auto line = parse_command_line(kOptions, std::move(arguments));
  if (!line) return std::unexpected(std::move(line).error());
  Question question;
  for (auto& [option, value] : line->options) {
    if (option == 0) question.directory = std::move(value);
    if (option == 1) question.json = true;
    if (option == 2) question.help = true;
  }
  if (line->operands.size() > 1) {
    return base::fail(ErrorCode::invalid_argument, "usage", "more than one run was named");
  }
  if (!line->operands.empty()) question.run = std::move(line->operands.front());
  if (!question.help && question.directory.empty()) {
    return base::fail(ErrorCode::invalid_argument, "usage",
                      "--audit: no directory given, and HOME is not set");
  }
  return question;
}

struct Explained {
  std::vector<Denial> denials;
  std::uint64_t omitted = 0;
  std::string text;     // of the denials, as JSON
  std::string failure;  // why the program never ran; empty: it did
};

Denial denial_of(const json::object& object) {
  const auto text = [&](std::string_view key) {
    const json::value* const found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
  };
  Denial denial{.what = text("what"),
                .access = text("access"),
                .allow = text("allow"),
                .reason = text("reason")};
  for (const Denial::Kind kind :
       {Denial::Kind::path, Denial::Kind::system_call, Denial::Kind::connect, Denial::Kind::exec}) {
    if (text("kind") == to_string(kind)) denial.kind = kind;
  }
  if (const json::value* const count = object.if_contains("count")) {
    denial.count = count->is_number() ? count->to_number<std::uint64_t>() : 1;
  }
  return denial;
}

// The denials of an `exit` record.
Explained explained(std::string_view line) {
  json::error_code wrong;
  const json::value record = json::parse(line, wrong);
  const json::value* const denials =
      wrong ? nullptr : record.find_pointer("/outcome/denials", wrong);
  Explained all{.denials = {}, .omitted = 0, .text = "[]", .failure = {}};
  if (denials == nullptr || !denials->is_array()) return all;
  all.text = json::serialize(*denials);
  for (const json::value& one : denials->get_array()) {
    if (one.is_object()) all.denials.push_back(denial_of(one.get_object()));
  }
  const json::value* const error = record.find_pointer("/outcome/error/message", wrong);
  if (error != nullptr && error->is_string()) all.failure = error->get_string();
  const json::value* const omitted = record.find_pointer("/outcome/denials_omitted", wrong);
  if (omitted != nullptr && omitted->is_number()) {
    all.omitted = omitted->to_number<std::uint64_t>(wrong);
  }
  return all;
}

int failed(const Error& error) {
  complain(error.message);
  return kOwnFailure;
}

int no_such_run(std::string_view why) {
  complain(why);
  return kNoSuchRun;
}

// The id that begins so; or, when there is none, the exit status.
std::expected<std::string, int> complete_id(const audit::Directory& directory,
                                            const std::string& beginning) {
  auto runs = audit::find_runs(directory, beginning);
  if (!runs) return std::unexpected(failed(runs.error()));
  if (runs->empty()) {
    return std::unexpected(
        no_such_run(concat("the audit log in ", base::printable(directory.path()), " has no run ",
                           base::printable(beginning))));
  }
  if (runs->size() > 1) {
    return std::unexpected(
        usage_error(concat("more than one run begins with ", base::printable(beginning),
                           ", such as ", runs->at(0), " and ", runs->at(1)),
                    kHelp));
  }
  return std::move(runs->front());
}

// Of the runs that begin with `run`, the last one with --explain; empty: none.
Result<std::string> last_explained(const audit::Directory& directory, const std::string& run) {
  const auto starts = audit::find_records(directory, {.run = run, .operation = "start"}, 0);
  if (!starts) return std::unexpected(starts.error());
  for (auto at = starts->rbegin(); at != starts->rend(); ++at) {
    const auto line = audit::line_at(directory, *at);
    if (!line) return std::unexpected(line.error());
    const auto seen = audit::read_record(*line);
    if (seen && seen->detail == audit::kExplained) return seen->run;
  }
  return std::string();
}

}  // namespace

std::string explain_help() { return std::string(kText); }

int explain_command(std::vector<std::string> arguments) {
  auto question = parse(std::move(arguments));
  if (!question) return usage_error(question.error().message, kHelp);
  if (question->help) return print(explain_help());
  const auto directory = audit::Directory::to_read(question->directory);
  if (!directory) return failed(directory.error());
  if (!question->run.empty()) {
    auto whole = complete_id(*directory, question->run);
    if (!whole) return whole.error();
    question->run = *std::move(whole);
  }
  const auto run = last_explained(*directory, question->run);
  if (!run) return failed(run.error());
  if (run->empty()) {
    return no_such_run(
        question->run.empty()
            ? concat("the audit log in ", base::printable(directory->path()),
                     " has no run with --explain")
            : concat("run ", question->run, " was not explained: run it again with --explain"));
  }
  const auto ends = audit::find_records(*directory, {.run = *run, .operation = "exit"}, 1);
  if (!ends) return failed(ends.error());
  if (ends->empty()) return no_such_run(concat("run ", *run, " has not ended"));
  const auto line = audit::line_at(*directory, ends->front());
  if (!line) return failed(line.error());
  const Explained all = explained(*line);
  if (!all.failure.empty()) {
    return no_such_run(concat("run ", *run, " never began: ", base::printable(all.failure)));
  }
  return print(question->json ? all.text + "\n" : denial_text(all.denials, all.omitted));
}

}  // namespace cordon::app
