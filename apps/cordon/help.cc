#include "help.h"

#include <fmt/format.h>

#include <string_view>

#include "run_options.h"

namespace cordon::app {
namespace {

constexpr std::size_t kTextColumn = 22;

constexpr std::string_view kCommand = R"(Usage: cordon VERB …

Runs programs you do not trust, and tells you exactly what happened.

Verbs:
  run [OPTIONS] [--] PROGRAM [ARG…]   run PROGRAM with limits
  batch [OPTIONS] FILE                run many requests, and write their results
  plan [OPTIONS] [--] PROGRAM [ARG…]  tell what run would do, and do nothing
  policy check FILE…                  tell whether policy files are right
  policy explain [OPTIONS] [--] PROGRAM [ARG…]
                                      tell what policy says about a run
  doctor [--json]                     tell what can be enforced on this host
  audit show|verify …                 read or check the record of runs
  explain [ID]                        tell again what a run was refused
  pool start|status|stop              keep a service that runs programs faster
  mcp run [OPTIONS] SERVER [ARG…]     run an MCP server for its client
  mcp serve [OPTIONS] SERVER [ARG…]   serve MCP servers over HTTP
  mcp wrap|unwrap [OPTIONS] FILE      have all servers of a client run so
  mcp inspect [OPTIONS] SERVER [ARG…] tell what an MCP server offers
  sandbox create|exec|ls|…            keep sandboxes that outlive one program
  completion bash|zsh|fish            print a completion script for that shell
  help [VERB]                         print this, or the help of VERB

Options:
  --help                              print this
  --version                           print the version

Example:
  cordon run --timeout 10s --memory 512M -- python3 script.py
)";

constexpr std::string_view kRunIntroduction = R"(Usage: cordon run [OPTIONS] [--] PROGRAM [ARG…]

Runs PROGRAM, waits for its end, and exits with its status. When something
else ended the run (a limit, a signal, a failure to start), one line on stderr
says what it was; --json and --report give every detail.

Options end at PROGRAM: whatever follows belongs to it, even if it begins with
a dash. PROGRAM is a path, or a name looked up in the PATH it will see. No
shell is involved; write sh -c '…' to have one.

Defaults are in parentheses. Those in brackets are of the linux backend, which
isolates PROGRAM as well, and of gvisor, which runs it on a kernel of its own;
the posix backend isolates nothing, refuses what asks for isolation, and with
it no limit applies unless asked for here, except the timeout. `cordon doctor`
tells what this host can enforce, `cordon plan` what would be done for one
program.
)";

constexpr std::string_view kRunConclusion = R"(
Sizes are in bytes or with K, M, G, T (binary): 64M, 1G. Durations have a unit:
250ms, 5s, 2m, 1h.

Input and output:
  stdin, stdout and stderr are the command's own; PROGRAM inherits them. With
  --output they are read and copied through. With --report, FILE is replaced as
  a whole when the run has ended; devices and pipes such as /dev/stderr are
  written to.

  When all three are terminals PROGRAM gets a terminal of its own. Every key is
  passed on to it, Ctrl-Z included; Ctrl-C interrupts it, and a second Ctrl-C
  within a second ends the run. --json turns this off.

Signals:
  SIGINT and SIGQUIT are forwarded to PROGRAM and what it started; a second one
  ends the run, and a third one at once. SIGTERM and SIGHUP end the run: all of
  it gets SIGTERM, and after --grace SIGKILL.

Exit status:
  the program's own, or
    5    the run timed out
  124    ended for another limit, or cancelled
  125    wrong usage, or Cordon could not set the run up, or not collect a file
  126    PROGRAM is not permitted or not executable
  127    PROGRAM was not found
  128+n  PROGRAM died of signal n by itself

Examples:
  End a program and all it started after ten seconds:
    cordon run --timeout 10s --net host -- ./server --port 8080

  Limit what a build step may use:
    cordon run --write . --memory 2G --cpu-time 5m --files 256 -- make

  Let a program change one directory, and reach no network:
    cordon run --write ./out -- python3 generated.py

  Let a program work in a fresh directory, and take the result out of it:
    cordon run --workdir --read . --collect '*.csv' --into out -- "$PWD/report"

  Run a program on input from a file, with one variable of yours:
    cordon run --env API_KEY --net host -- ./client < request.txt

  Give a program a key that nobody else sees:
    cordon run --secret API_KEY=file:key --net host -- ./client

  Get output and outcome as one JSON object, for a script:
    cordon run --json --timeout 5s -- python3 answer.py | jq .outcome.verdict

  See the output and keep the outcome:
    cordon run --report outcome.json -- ./tests
)";

constexpr std::string_view kPlan = R"(Usage: cordon plan [OPTIONS] [--] PROGRAM [ARG…]

Tells what `cordon run` with the same options would do, step by step up to the
program's first instruction, and which guarantees would hold. Nothing is run.

Options are those of run, except --report; see 'cordon run --help'. With
--require, a guarantee that is not fully kept is an error here, too.
  --json              print one object:
                      {"schema","backend","steps","enforcement"}
  --help              print this

Marks:
  ✓  enforced      ~  partly enforced      ✗  not enforced

Exit status:
    0    the program would be run
  125    wrong usage, or it could not be set up, or lacks what --require names
  126    PROGRAM is not permitted or not executable
  127    PROGRAM was not found

Examples:
  See what a program would get:
    cordon plan --memory 64M -- python3 script.py

  Check in a script that memory would be limited:
    cordon plan --require memory --memory 64M -- true >/dev/null
)";

constexpr std::string_view kDoctor = R"(Usage: cordon doctor [--json]

Tells which guarantees can be enforced on this host and by what, or why not and
how to fix it; then what was found out about the host: kernel, namespaces,
control groups, Landlock, seccomp, container. What can be tried is tried, in a
process that ends at once; nothing is changed.

Options:
  --json              print one object: {"schema","ok","backend",
                      "why_not_linux","enforcement","fixes","host"}
  --help              print this

Marks:
  ✓  enforced      ~  partly enforced      ✗  not enforced

Exit status:
    0    every guarantee is enforced
    1    at least one is not
  125    wrong usage, or the host could not be examined

Examples:
  cordon doctor
  cordon doctor --json | jq .fixes
)";

constexpr std::string_view kPolicy = R"(Usage: cordon policy check FILE…
       cordon policy explain [OPTIONS] [--] PROGRAM [ARG…]
       cordon policy show [PROFILE]

check reads policy files, with what they include and each of their profiles,
and tells what is wrong with them: where, and what would be right.

explain tells what the site's policy, and those that --policy names, say about
a run with these options: each decision with the place that asked and the place
that decided. Nothing is run. Options are those of run, except --report; see
'cordon run --help'.
  --json              print one object:
                      {"schema","allowed","digest","files","decisions"}
  --help              print this

show prints a built-in profile as a policy file has it, or the names of all of
them. --profile mcp allows a run no more than the one for MCP servers does.

Marks:
  ✓  allowed      ✗  refused

Exit status of check:
    0    the files are right
    1    at least one is not
  125    wrong usage

Exit status of explain:
    0    the run would be allowed
  125    wrong usage, or a policy cannot be used
  126    it would be refused
  127    PROGRAM was not found

Examples:
  cordon policy check /etc/cordon/policy.toml
  cordon policy explain --memory 2G -- python3 script.py
)";

}  // namespace

std::string option_lines(const OptionSpec& option) {
  const std::string head =
      fmt::format("  {}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
  std::string lines = fmt::format("{:<{}}", head, kTextColumn);
  if (head.size() >= kTextColumn) lines = fmt::format("{}\n{:{}}", head, "", kTextColumn);
  for (const char c : option.text) {
    lines += c;
    if (c == '\n') lines.append(kTextColumn, ' ');
  }
  return lines + '\n';
}

std::string plan_help() { return std::string(kPlan); }
std::string policy_help() { return std::string(kPolicy); }
std::string doctor_help() { return std::string(kDoctor); }
std::string command_help() { return std::string(kCommand); }

std::string run_help() {
  std::string text(kRunIntroduction);
  std::string_view section;
  for (const RunOption& option : run_option_table()) {
    if (option.section != section) {
      section = option.section;
      text += fmt::format("\n{}:\n", section);
    }
    text += option_lines(option.spec);
  }
  text += kRunConclusion;
  return text;
}

}  // namespace cordon::app
