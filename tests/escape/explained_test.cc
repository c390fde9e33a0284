// Every attack once more in a run that is explained: stopped all the same, and what was refused is
// named; or here is why it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "escape/attacks.h"
#include "escape/runs.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::escape {
namespace {

// What stops an attack that no denial tells of. Whatever is not here has one.
const std::map<std::string, std::string>& unreported() {
  constexpr const char* kProc = "what is in /proc is the sandbox's own, refused by the kernel";
  constexpr const char* kIds = "a right that the program does not have, refused by the kernel";
  constexpr const char* kAbstract = "who has an abstract socket is not to be found out";
  constexpr const char* kLimit = "a limit, which is in limits_hit or fails inside";
  constexpr const char* kElsewhere = "what it looks for has no name that leads out of the sandbox";
  static const std::map<std::string, std::string> kAll{
      {"CannotWriteSysctl", kProc},
      {"CannotTriggerSysrq", kProc},
      {"CannotReadEnvironmentOfInit", kProc},
      {"CannotReadMemoryMapOfInit", kProc},
      {"CannotWriteMemoryOfInit", kProc},
      {"CannotReachFilesOpenInInit", kProc},
      {"CannotReachRootOfInit", kProc},
      {"CannotOpenExecutableOfInit", kProc},
      {"CannotSpareInitFromOom", kProc},
      {"CannotSeeHostProcesses", kProc},
      {"CannotSeeTheLauncher", kProc},
      {"CannotSignalHostProcess", kElsewhere},
      {"CannotSignalHostProcessByPidfd", kElsewhere},
      {"CannotSignalInit", kIds},
      {"CannotReachSharedMemoryOfHost", kElsewhere},
      {"CannotBecomeRoot", kIds},
      {"CannotBecomeOtherUser", kIds},
      {"CannotJoinRootsGroup", kIds},
      {"CannotRegainCapabilities", kIds},
      {"CannotUndoSecurebits", kIds},
      {"CannotGainPrivilegesByExec", kIds},
      {"CannotExecSetuidToGainPrivileges", kIds},
      {"CannotBeMoreUrgentThanOthers", kIds},
      {"CannotMakeDiskNode", kIds},
      {"CannotLeaveFileCapabilities", kIds},
      {"CannotOpenRawSocket", kIds},
      {"CannotRaiseItsLimits", kLimit},
      {"CannotOpenMoreFilesThanAllowed", kLimit},
      {"CannotDumpCore", kLimit},
      {"CannotFillTmpBeyondItsSize", kLimit},
      {"CannotFillSharedMemoryBeyondItsSize", kLimit},
      {"CannotWriteLargerFileThanAllowed", kLimit},
      {"LoopbackOfItsOwnDoesNotReachTheHosts", "it reaches its own, where nobody listens"},
      {"OnlyLoopbackInterfaceExists", kElsewhere},
      {"CannotConnectToAbstractSocketOfHost", kAbstract},
      {"CannotConnectToAbstractSocketOnHostNetwork", kAbstract},
      {"CannotLinkReadOnlyFileIntoWritableGrant", "two mounts, which no link goes across"},
      {"CannotReadHostDisks", "the host may have no disk of a usual name"},
      {"CannotLeaveControlGroup", "the host may have no such file"},
      {"CannotOpenVirtualMachineDevices", "the host may have no such device"},
      {"CannotReadKernelMemory", "the host may have no such device"},
      {"CannotReadShadow", "an ordinary caller cannot see everything"},
  };
  return kAll;
}

class ExplainedAttack : public Sandboxed, public testing::WithParamInterface<Attack> {};

TEST_P(ExplainedAttack, IsStoppedAllTheSameAndNamed) {
  const Attack& attack = GetParam();
  if (attack.needs_root && !is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  if (landlock_abi() < attack.landlock_abi) {
    CORDON_SKIP_WITHOUT("landlock", "needs ABI " + std::to_string(attack.landlock_abi));
  }
  if (support::tree_is_below(attack.looks_for)) {
    GTEST_SKIP() << "tree: it is below " << attack.looks_for
                 << ", which is visible for that reason";
  }
  Request request = request_for(attack, bait_);
  request.explain = true;
  const Outcome outcome = run(manager(), request);
  EXPECT_TRUE(was_stopped(outcome));
  EXPECT_EQ(bait_.foreign_or_set_ids(), Words{});
  EXPECT_EQ(bait_.typed(), 0);
  const auto reason = unreported().find(attack.name);
  if (reason == unreported().end()) {
    EXPECT_FALSE(outcome.denials.empty()) << "nothing is named: " << outcome.out;
  }
  for (const Denial& denial : outcome.denials) {
    std::printf("  %s %s %s (%s) %s\n", std::string(to_string(denial.kind)).c_str(),
                denial.access.c_str(), denial.what.c_str(), denial.allow.c_str(),
                denial.reason.c_str());
    EXPECT_FALSE(denial.allow.empty() && denial.reason.empty()) << denial.what;
  }
}

INSTANTIATE_TEST_SUITE_P(, ExplainedAttack, testing::ValuesIn(all_attacks()),
                         [](const auto& attack) { return attack.param.name; });

TEST(ExplainedAttacksTest, EveryReasonBelongsToAnAttack) {
  const auto all = all_attacks();
  for (const auto& [name, reason] : unreported()) {
    EXPECT_TRUE(std::ranges::any_of(all, [&](const Attack& a) { return a.name == name; })) << name;
  }
}

}  // namespace
}  // namespace cordon::escape
