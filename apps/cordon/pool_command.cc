#include "pool_command.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/suggest.h"
#include "command_line.h"
#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "pool_client.h"
#include "pool_service.h"
#include "pool_start.h"

namespace cordon::app {
namespace {

constexpr std::string_view kPoolHelp = "cordon pool --help";
constexpr int kNoPool = 1;

constexpr std::string_view kText =
    R"(Usage: cordon pool start [--foreground] [--size N] [--idle DUR]
       cordon pool status [--json]
       cordon pool stop [--grace DUR]

A pool is a service of yours that runs programs for 'cordon run', which then
has nothing to prepare. What a program may do, and what is told of it, is the
same with and without. 'cordon run' uses the pool when there is one and it can
run the program; --pool off and --pool only decide otherwise.

start starts it, and returns when it answers. There is one for each user: if it
runs already, that is said and nothing else is done.
  --foreground        stay, instead of going to the background
  --size N            run N programs at once (twice the processors, at least 4);
                      128 more may wait, in order, none of them for longer
                      than its --timeout
  --idle DUR          stop after DUR without a client (never)

status tells about it:
  --json              print one object: {"schema","pid","uptime_ms","size",
                      "running","waiting","served","refused","parked"}

stop stops it. What runs may come to its end, and is ended after the grace.
  --grace DUR         how long that is (10s)

  --help              print this

The socket is in $XDG_RUNTIME_DIR/cordon/pool, for root without that variable in
/run/cordon/pool. No sandbox sees it, and whoever is in another user or pid
namespace is refused.

Exit status:
    0    started, told or stopped; or it ran already
    1    status, stop: no pool runs
  125    wrong usage, or it could not be done

Examples:
  cordon pool start
  cordon run --pool only -- true
  cordon pool status
  cordon pool stop
)";

struct Verb {
  std::string_view name;
  std::vector<OptionSpec> options;
  int (*act)(const CommandLine& line);
};

int failed(const Error& error) {
  complain(error.message);
  return error.code == ErrorCode::not_found && error.os_error == 0 ? kNoPool : kOwnFailure;
}

int bad_option(std::string_view name, const Error& error) {
  return usage_error(concat(name, ": ", error.message), kPoolHelp);
}

// Places in the table of verbs().
constexpr std::size_t kForeground = 0;
constexpr std::size_t kSize = 1;
constexpr std::size_t kIdle = 2;

int start(const CommandLine& line) {
  pool::StartOptions options;
  for (const auto& [option, value] : line.options) {
    if (option == kForeground) options.foreground = true;
    if (option == kSize) {
      const auto size = parse_count(value);
      if (!size) return bad_option("--size", size.error());
      if (*size == 0 || *size > pool::kMostSize) {
        return usage_error(
            concat("--size: at least 1 and at most ", std::to_string(pool::kMostSize)), kPoolHelp);
      }
      options.service.size = *size;
    }
    if (option == kIdle) {
      const auto idle = parse_timeout(value);
      if (!idle) return bad_option("--idle", idle.error());
      options.service.idle = *idle == kNoTimeout ? Duration{0} : *idle;
    }
  }
  return pool::start(options);
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::uint64_t milliseconds(Duration d) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

std::string status_json(const pool::ServiceStatus& status) {
  return concat(R"({"schema":"cordon.pool/1","pid":)", std::to_string(status.pid),
                R"(,"uptime_ms":)", number(milliseconds(status.uptime)), R"(,"size":)",
                number(status.size), R"(,"running":)", number(status.running), R"(,"waiting":)",
                number(status.waiting), R"(,"served":)", number(status.served), R"(,"refused":)",
                number(status.refused), R"(,"parked":)", number(status.parked), "}\n");
}

std::string status_text(const pool::ServiceStatus& status) {
  return concat("pid      ", std::to_string(status.pid), "\nup       ",
                number(milliseconds(status.uptime) / 1000), "s\nrunning  ", number(status.running),
                " of ", number(status.size), "\nwaiting  ", number(status.waiting), "\nserved   ",
                number(status.served), "\nrefused  ", number(status.refused), "\nparked   ",
                number(status.parked), "\n");
}

int tell_status(const CommandLine& line) {
  const auto status = pool::ask_status();
  if (!status) return failed(status.error());
  return print(line.options.empty() ? status_text(*status) : status_json(*status));
}

int stop(const CommandLine& line) {
  Duration grace = pool::kStopGrace;
  for (const auto& [option, value] : line.options) {
    (void)option;
    const auto given = parse_duration(value);
    if (!given) return bad_option("--grace", given.error());
    grace = *given;
  }
  const auto stopped = pool::ask_to_stop(grace);
  return stopped ? 0 : failed(stopped.error());
}

std::array<Verb, 3> verbs() {
  return {{{"start", {{"--foreground", "", ""}, {"--size", "N", ""}, {"--idle", "DUR", ""}}, start},
           {"status", {{"--json", "", ""}}, tell_status},
           {"stop", {{"--grace", "DUR", ""}}, stop}}};
}

int unknown(std::string_view verb) {
  constexpr std::array<std::string_view, 3> kNames = {"start", "status", "stop"};
  const std::string_view near = base::nearest(verb, kNames);
  const std::string what = concat("pool has no '", verb, "'");
  if (near.empty()) return usage_error(what, kPoolHelp);
  return usage_error(concat(what, " (did you mean '", near, "'?)"), kPoolHelp);
}

}  // namespace

std::string pool_help() { return std::string(kText); }

int pool_command(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage_error("pool needs a verb: start, status or stop", kPoolHelp);
  const std::string name = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (name == "--help") return print(pool_help());
  for (Verb& verb : verbs()) {
    if (verb.name != name) continue;
    verb.options.push_back({"--help", "", ""});
    const auto line = parse_command_line(verb.options, std::move(arguments));
    if (!line) return usage_error(line.error().message, kPoolHelp);
    for (const auto& given : line->options) {
      if (given.option == verb.options.size() - 1) return print(pool_help());
    }
    if (!line->operands.empty()) {
      return usage_error(concat("pool ", name, " takes no '", line->operands.front(), "'"),
                         kPoolHelp);
    }
    return verb.act(*line);
  }
  return unknown(name);
}

}  // namespace cordon::app
