#include <sched.h>

#include <cerrno>

#include "escape/attacks.h"

namespace cordon::escape {
namespace {

const Unguarded kNoSandbox{.no_sandbox = true};
const Unguarded kNoSeccomp{.without = {"seccomp"}};

Command on_victim(std::string what) {
  return [what = std::move(what)](const Bait& b) -> Words {
    return {what, std::to_string(b.victim())};
  };
}

// Inside, pid 1 is the sandbox's init; outside, the victim stands for it.
Unguarded on_victim_outside(std::string what) {
  return {.command = [what = std::move(what)](const Bait& b) -> Words {
    return {CORDON_TEST_PROGRAMS_DIR "/attack", what, std::to_string(b.victim())};
  }};
}

Unguarded file_of_victim(std::string what, std::string file) {
  return {.command = [what = std::move(what), file = std::move(file)](const Bait& b) -> Words {
    return {CORDON_TEST_PROGRAMS_DIR "/attack", what,
            "/proc/" + std::to_string(b.victim()) + "/" + file};
  }};
}

// In two parts: else it would find itself, by its own arguments.
Command find_launcher() {
  const std::string name = program_invocation_short_name;
  return told({"find-process", name.substr(0, 3), name.substr(3)});
}

}  // namespace

std::vector<Attack> process_attacks() {
  return {
      {"CannotSeeHostProcesses", told({"find-process", Bait::kMarkFirst, Bait::kMarkSecond}),
       kNoSandbox},
      {"CannotSeeTheLauncher", find_launcher(), kNoSandbox},
      {"CannotSignalHostProcess", on_victim("signal"), kNoSandbox},
      {"CannotSignalHostProcessByPidfd", on_victim("signal-by-pidfd"), kNoSandbox},
      {"CannotTraceHostProcess", on_victim("trace"), kNoSandbox},
      {"CannotReadMemoryOfHostProcess", on_victim("read-memory"), kNoSandbox},
      {.name = "CannotSignalInit",  // which can do no harm: no signal has an effect on it
       .command = told({"signal", "1"}),
       .unguarded = {.without = {"landlock"}},
       .landlock_abi = 6},
      // With it there, the run would not end.
      {"CannotGiveTheSupervisorAChild", told({"clone", std::to_string(CLONE_PARENT)}), kNoSandbox},
      {"CannotTraceInit", told({"trace", "1"}), on_victim_outside("trace")},
      {"CannotReadMemoryOfInit", told({"read-memory", "1"}), on_victim_outside("read-memory")},
      {"CannotReadEnvironmentOfInit", told({"read", "/proc/1/environ"}),
       file_of_victim("read", "environ")},
      {"CannotReadMemoryMapOfInit", told({"read", "/proc/1/maps"}), file_of_victim("read", "maps")},
      {"CannotWriteMemoryOfInit", told({"open-to-write", "/proc/1/mem"}),
       file_of_victim("open-to-write", "mem")},
      {"CannotReachFilesOpenInInit", told({"list", "/proc/1/fd"}), file_of_victim("list", "fd")},
      {"CannotReachRootOfInit", told({"list", "/proc/1/root/"}), file_of_victim("list", "root/")},
      {"CannotEnterNamespaceOfInit",
       told({"enter-namespace", "/proc/1/ns/net"}),
       {.command = [](const Bait& b) -> Words {
          return {CORDON_TEST_PROGRAMS_DIR "/attack", "enter-namespace",
                  "/proc/" + std::to_string(b.victim()) + "/ns/net"};
        },
        .needs_root = true}},
      // To be overwritten when nobody executes it any more.
      {"CannotOpenExecutableOfInit", told({"read", "/proc/1/exe"}), file_of_victim("read", "exe")},
      {"CannotSpareInitFromOom", told({"open-to-write", "/proc/1/oom_score_adj"}),
       file_of_victim("open-to-write", "oom_score_adj")},
      {"CannotTraceSibling", told({"trace-sibling"}), kNoSeccomp},
      {"CannotLetItselfBeTraced", told({"trace-me"}), kNoSeccomp},
      {"CannotReadMemoryOfSibling", told({"read-sibling"}), kNoSeccomp},
      {"CannotTakeDescriptorOfSibling", told({"take-descriptor"}), kNoSeccomp},
      {"CannotReachSharedMemoryOfHost",
       [](const Bait& b) -> Words { return {"shared-memory", b.shared_memory_key()}; }, kNoSandbox},
  };
}

}  // namespace cordon::escape
