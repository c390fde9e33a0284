#include "sandbox_command.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "concat.h"
#include "message.h"
#include "sandbox_verbs.h"

namespace cordon::app {
namespace {

constexpr std::string_view kText =
    R"(Usage: cordon sandbox create [OPTIONS] NAME [--] PROGRAM [ARG…]
       cordon sandbox exec [OPTIONS] NAME [--] PROGRAM [ARG…]
       cordon sandbox connect NAME [PROCESS]
       cordon sandbox ps NAME
       cordon sandbox logs [--follow] NAME [PROCESS]
       cordon sandbox cp NAME:PATH LOCAL | LOCAL NAME:PATH
       cordon sandbox checkpoint [--leave-running] NAME DIR
       cordon sandbox restore NAME DIR
       cordon sandbox stop [--grace DUR] NAME
       cordon sandbox rm NAME
       cordon sandbox ls

A sandbox lives longer than one program: it has a main program, others are
executed beside it, behind the same isolation, and it ends with the main one.
It outlives the command that made it. NAME is of a-z, 0-9, ".", "_" and "-".
Every verb takes --json, and then prints one object.

create starts PROGRAM as the main program, and returns when it runs. It takes
the options of 'cordon run' about limits, isolation, policy, audit and
surroundings, --require, and
  --backend NAME      linux (default) or gvisor
  --tty               give PROGRAM a terminal of its own
Without --timeout it may run for ever. Its stdin is open: see connect.

exec runs a program inside, and exits with its status as 'cordon run' does. It
takes --timeout (none), --grace, --cpu-time, --cpus, --memory, --pids,
--pids-kill, --files, --file-size, --output, --policy, --profile, --audit,
--audit-key, --cwd, --env, --env-pass, --report and --json as 'run' does, and
asks for no more than the sandbox has.
  --tty               give the program a terminal of its own, as it gets one
                      when the command has three
  --detach            print the number of the process, and leave it running

connect attaches to the main program, or to the process of that number: first
comes what was kept of its output (1M), then what follows. What is typed is its
input, if it takes any.

Ctrl-P Ctrl-Q on a terminal detaches from a program, which goes on; so does a
terminal that goes away, and the end of the command by SIGKILL. With exec,
other signals do what they do with 'cordon run'; with connect, what would end
the program detaches from it.

ps lists the processes, logs prints what is kept of the output of one, also
when the sandbox has ended; with --follow also what comes.

cp copies a file or a directory out of or into a sandbox that runs. Links are
copied as links, and never followed; nothing that is there is replaced.

checkpoint writes everything inside to the new directory DIR, and ends the
sandbox unless --leave-running is given; restore goes on from there, under the
same NAME, which may be that of a sandbox that has ended. Only gvisor can.
  --quiet             no progress on stderr

stop ends the main program, after --grace (5s) by force; what was kept stays.
rm ends everything at once and removes what was kept, except images.
ls lists all sandboxes, and removes what a supervisor that was killed has left.

Exit status of exec and connect: as of 'cordon run', and 125 when there is no
such sandbox, or it does not run; 0 when detached. Of create: 0, else as of
'cordon run' for a program that could not be started. Of the others:
    0    done
    1    there is no such sandbox or process, or not in the state for it
  125    wrong usage, or it could not be done

Examples:
  cordon sandbox create --memory 1G --write . box -- sleep 1h
  cordon sandbox exec box -- python3 -c 'print(6 * 7)'
  cordon sandbox exec --detach box -- ./server
  cordon sandbox connect box 2
  cordon sandbox ps box
  cordon sandbox stop box
  cordon sandbox rm box
)";

struct Verb {
  std::string_view name;
  int (*act)(std::vector<std::string> arguments);
};

constexpr auto kVerbs = std::to_array<Verb>({
    {"create", sandbox::create_verb},
    {"exec", sandbox::exec_verb},
    {"connect", sandbox::connect_verb},
    {"ps", sandbox::ps_verb},
    {"logs", sandbox::logs_verb},
    {"cp", sandbox::cp_verb},
    {"checkpoint", sandbox::checkpoint_verb},
    {"restore", sandbox::restore_verb},
    {"stop", sandbox::stop_verb},
    {"rm", sandbox::rm_verb},
    {"ls", sandbox::ls_verb},
});

int unknown(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const std::string_view near = base::nearest(name, names);
  const std::string what = concat("sandbox has no '", name, "'");
  if (near.empty()) return usage_error(what, sandbox::kSandboxHelp);
  return usage_error(concat(what, " (did you mean '", near, "'?)"), sandbox::kSandboxHelp);
}

}  // namespace

int sandbox::failed(const Error& error) {
  complain(error.message);
  const bool not_there = error.code == ErrorCode::not_found && error.os_error == 0;
  return not_there || error.code == ErrorCode::wrong_state ? 1 : kOwnFailure;
}

std::string sandbox_help() { return std::string(kText); }

int sandbox_command(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    return usage_error("sandbox needs a verb, such as create, exec or ls", sandbox::kSandboxHelp);
  }
  const std::string name = std::move(arguments.front());
  arguments.erase(arguments.begin());
  if (name == "--help") return print(sandbox_help());
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return verb.act(std::move(arguments));
  }
  return unknown(name);
}

}  // namespace cordon::app
