#include "escape/attacks.h"

namespace cordon::escape {
namespace {

const Unguarded kAsRoot{.no_sandbox = true, .needs_root = true};

void few_files(Request& request, const Bait& /*bait*/) { request.limits.open_files = 64; }

}  // namespace

std::vector<Attack> privilege_attacks() {
  return {
      {"CannotBecomeRoot", told({"become-root"}), kAsRoot},
      {"CannotBecomeOtherUser", told({"become-other-user", "12345"}), kAsRoot},
      {"CannotJoinRootsGroup", told({"join-group"}), kAsRoot},
      {"CannotRegainCapabilities", told({"regain-capabilities"}), {.without = {"capabilities"}}},
      {"CannotUndoSecurebits", told({"undo-securebits"}), kAsRoot},
      {"CannotGainPrivilegesByExec",
       told({"no-new-privileges"}),
       {.without = {"no_new_privs", "seccomp", "landlock"}}},
      {"CannotExecSetuidToGainPrivileges",
       [](const Bait& b) -> Words { return {"exec-setuid", b.granted("setuid")}; },
       {.command = [](const Bait& b) -> Words {
          return {"setpriv",
                  "--reuid=65534",
                  "--regid=65534",
                  "--clear-groups",
                  CORDON_TEST_PROGRAMS_DIR "/attack",
                  "exec-setuid",
                  b.granted("setuid")};
        },
        .needs_root = true},
       [](Request&, const Bait& bait) { (void)bait.make_setuid_program(); },
       true},
      {"CannotRaiseItsLimits",
       told({"set-limit", "65"}),
       {.without = {"limit:open_files"}},
       few_files},
      {"CannotOpenMoreFilesThanAllowed",
       told({"open-many", "100"}),
       {.without = {"limit:open_files"}},
       few_files},
      {"CannotDumpCore", told({"dump-core"}), {.without = {"limit:core"}}},
      {"CannotBeMoreUrgentThanOthers", told({"be-urgent"}), kAsRoot},
  };
}

}  // namespace cordon::escape
