#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "attack.h"

namespace attack {

void say(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

void reached(std::string_view what) {
  say("reached: " + std::string(what));
  ::_exit(kReached);
}

void stopped(std::string_view what, int error) {
  say("stopped: " + std::string(what) + ": " + std::strerror(error));
  ::_exit(kStopped);
}

void untried(std::string_view what, int error) {
  say("untried: " + std::string(what) + ": " + std::strerror(error));
  ::_exit(kUntried);
}

void judge(std::string_view what, long result) {
  if (result < 0) stopped(what);
  reached(what);
}

void hang() {
  for (;;) ::pause();
}

void try_to_gain_capabilities() {
  (void)::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET);
}

}  // namespace attack

int main(int argc, char** argv) {
  using namespace attack;  // NOLINT(google-build-using-namespace)
  if (argc < 2) untried("no attack is named", EINVAL);
  const Args args(argv + 2, argv + argc);
  for (const auto all :
       {file_attacks(), mode_attacks(), process_attacks(), privilege_attacks(), namespace_attacks(),
        kernel_attacks(), network_attacks(), resource_attacks(), tree_attacks()}) {
    for (const Entry& entry : all) {
      if (entry.name != argv[1]) continue;
      if (args.size() < entry.arguments) untried("too few arguments", EINVAL);
      entry.run(args);
      return kUntried;
    }
  }
  untried("there is no such attack", EINVAL);
}
