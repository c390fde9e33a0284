// The command: chooses the verb.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit_command.h"
#include "base/suggest.h"
#include "batch_command.h"
#include "completion.h"
#include "concat.h"
#include "cordon/version.h"
#include "doctor_command.h"
#include "explain_command.h"
#include "help.h"
#include "mcp_command.h"
#include "message.h"
#include "plan_command.h"
#include "policy_command.h"
#include "pool_command.h"
#include "run_command.h"
#include "sandbox_command.h"

namespace cordon::app {
namespace {

constexpr std::string_view kHelp = "cordon --help";
constexpr std::array<std::string_view, 12> kVerbs = {"run",     "batch", "plan",       "policy",
                                                     "doctor",  "audit", "explain",    "pool",
                                                     "sandbox", "mcp",   "completion", "help"};

// A caller may have closed them. Whatever we open next must not become the program's stdout.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() takes the lowest free number: this one, for those below are open by now.
    if (::fcntl(fd, F_GETFD) == -1) (void)::open("/dev/null", O_RDWR);
  }
}

int help_command(std::span<const std::string> arguments) {
  if (arguments.empty()) return print(command_help());
  if (arguments.front() == "run") return print(run_help());
  if (arguments.front() == "batch") return print(batch_help());
  if (arguments.front() == "plan") return print(plan_help());
  if (arguments.front() == "policy") return print(policy_help());
  if (arguments.front() == "doctor") return print(doctor_help());
  if (arguments.front() == "audit") return print(audit_help());
  if (arguments.front() == "explain") return print(explain_help());
  if (arguments.front() == "pool") return print(pool_help());
  if (arguments.front() == "mcp") return print(mcp_help());
  if (arguments.front() == "sandbox") return print(sandbox_help());
  for (const std::string_view verb : kVerbs) {
    if (arguments.front() == verb) return print(command_help());
  }
  return usage_error(concat("no help about '", arguments.front(), "'"), kHelp);
}

int unknown(std::string_view verb) {
  const std::string_view kind = verb.starts_with('-') ? "option" : "verb";
  const std::string what = concat("unknown ", kind, " '", verb, "'");
  const std::string_view near = base::nearest(verb, kVerbs);
  if (near.empty()) return usage_error(what, kHelp);
  return usage_error(concat(what, " (did you mean '", near, "'?)"), kHelp);
}

int command(std::vector<std::string> arguments) {
  if (arguments.empty()) return usage_error("no verb given", kHelp);
  const std::string verb = std::move(arguments.front());
  arguments.erase(arguments.begin());

  if (verb == "run") return run_command(std::move(arguments));
  if (verb == "batch") return batch_command(std::move(arguments));
  if (verb == "plan") return plan_command(std::move(arguments));
  if (verb == "policy") return policy_command(std::move(arguments));
  if (verb == "doctor") return doctor_command(std::move(arguments));
  if (verb == "audit") return audit_command(std::move(arguments));
  if (verb == "explain") return explain_command(std::move(arguments));
  if (verb == "pool") return pool_command(std::move(arguments));
  if (verb == "mcp") return mcp_command(std::move(arguments));
  if (verb == "sandbox") return sandbox_command(std::move(arguments));
  if (verb == "completion") return completion_command(arguments);
  if (verb == "help" || verb == "--help") return help_command(arguments);
  if (verb == "--version") return print(concat("cordon ", version(), "\n"));
  return unknown(verb);
}

}  // namespace
}  // namespace cordon::app

int main(int argc, char** argv) {
  // A few threads that allocate little: an arena for each would cost more than sharing one.
  (void)::mallopt(M_ARENA_MAX, 1);
  cordon::app::open_standard_streams();
  // A reader that has gone away is an error value to us; the program gets the signal's usual
  // meaning back.
  (void)std::signal(SIGPIPE, SIG_IGN);
  return cordon::app::command({argv + (argc > 0 ? 1 : 0), argv + argc});
}
