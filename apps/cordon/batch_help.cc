#include <string>
#include <string_view>

#include "batch_command.h"
#include "batch_options.h"
#include "help.h"

namespace cordon::app {
namespace {

constexpr std::string_view kIntroduction = R"(Usage: cordon batch [OPTIONS] FILE

Runs the requests in FILE, several at once, each in a sandbox of its own, and
writes their results in the order of the requests. FILE has one JSON object a
line ("-": stdin); empty lines are left out.

  {"id":"a","argv":["python3","a.py"],"stdin":"3 4\n","timeout":"2s"}

Keys of a request:
  argv                program and arguments; or program, and args
  id                  a text of yours, repeated in the result
  stdin               a text; without it, the input is empty
  env                 variables, as an object
  cwd, timeout, grace, cpu_time, cpus, memory, pids, pids_kill, files,
  file_size, output, read, write, bind, tmpfs, user, net, no_unix, env_pass
                      as the options of run; where an option can be repeated,
                      a list of texts
A key replaces the option of the same name, or is added to it where that is
repeatable, and like the option it is bound by the policy alone.

Each result is one line, for a request that was not tried with "error" instead:
  {"line","id","request","outcome":{…},"stdout","stderr"}
  {"line","id","request","error":{…}}

Options of the batch:
)";

constexpr std::string_view kConclusion = R"(
A line that is no request is told with its place, and nothing is run at all,
unless --keep-going is given.

Signals:
  SIGINT, SIGTERM and SIGHUP: nothing new is begun, programs that run are ended
  and have no result, results that are in order are written. A second one ends
  all at once. With --results, the same command and --resume goes on.

Exit status:
    0    every program exited with 0
    1    one did not, or was not run
  125    wrong usage, no valid requests, or the batch could not go on
  128+n  stopped by signal n

Examples:
  Judge answers, eight at a time, with two seconds for each:
    cordon batch --jobs 8 --timeout 2s --results out.jsonl in.jsonl

  Go on after an interruption:
    cordon batch --jobs 8 --timeout 2s --results out.jsonl --resume in.jsonl

  Run a list of commands that another program makes:
    jq -c '{argv: ["sh", "-c", .]}' commands.json | cordon batch -

  Count the verdicts:
    cordon batch requests.jsonl | jq -r .outcome.verdict | sort | uniq -c
)";

}  // namespace

std::string batch_help() {
  std::string text(kIntroduction);
  for (const BatchOption& option : batch_option_table()) text += option_lines(option.spec);
  std::string_view section;
  for (const RunOption& option : batch_run_options()) {
    if (option.section != section) {
      section = option.section;
      text += "\n" + std::string(section) + ", of every request:\n";
    }
    text += option_lines(option.spec);
  }
  text += kConclusion;
  return text;
}

}  // namespace cordon::app
