// Every attack once more in a run that is explained: stopped all the same, and what was refused is
// named; or here is why it is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "backend/linux/explain_judge.h"
#include "escape/attacks.h"
#include "escape/runs.h"

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
      {"CannotEnterNamespaceOfInit", kProc},
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
      {"CannotUseLoopbackThatIsDown", "bind is not reported: what for, its arguments do not tell"},
      {"CannotConnectToAbstractSocketOfHost", kAbstract},
      {"CannotConnectToAbstractSocketOnHostNetwork", kAbstract},
      {"CannotLinkReadOnlyFileIntoWritableGrant", "two mounts, which no link goes across"},
      {"CannotReadHostDisks", "the host may have no disk of a usual name"},
      {"CannotLeaveControlGroup", "the host may have no such file"},
      {"CannotOpenVirtualMachineDevices", "the host may have no such device"},
      {"CannotReadKernelMemory", "the host may have no such device"},
  };
  return kAll;
}

// The refused call, of attacks that are no matter of paths and addresses.
const std::map<std::string, std::string>& calls() {
  static const std::map<std::string, std::string> kAll{
      {"CannotOpenFileByHandle", "open_by_handle_at"},
      {"CannotLeaveSetuidFileByChmod", "chmod"},
      {"CannotLeaveSetuidFileByFchmod", "fchmod"},
      {"CannotLeaveSetuidFileByFchmodat", "fchmodat"},
      {"CannotLeaveSetuidFileByFchmodat2", "fchmodat2"},
      {"CannotLeaveSetuidFileByBitsAboveTheMode", "chmod"},
      {"CannotLeaveSetuidFileByOpen", "open"},
      {"CannotLeaveSetuidFileByOpenat", "openat"},
      {"CannotLeaveSetuidFileByOpenat2", "openat2"},
      {"CannotLeaveSetuidFileByCreat", "creat"},
      {"CannotLeaveSetuidFileByMknod", "mknod"},
      {"CannotLeaveSetuidFileByMknodat", "mknodat"},
      {"CannotLeaveSetuidFileByTmpfile", "openat"},
      {"CannotLeaveSetgidDirectory", "chmod"},
      {"CannotLeaveSetgidDirectoryByMkdir", "mkdir"},
      {"CannotLeaveSetuidSocket", "fchmod"},
      {"CannotTraceHostProcess", "ptrace"},
      {"CannotReadMemoryOfHostProcess", "process_vm_readv"},
      {"CannotGiveTheSupervisorAChild", "clone"},
      {"CannotTraceInit", "ptrace"},
      {"CannotReadMemoryOfInit", "process_vm_readv"},
      {"CannotTraceSibling", "ptrace"},
      {"CannotLetItselfBeTraced", "ptrace"},
      {"CannotReadMemoryOfSibling", "process_vm_readv"},
      {"CannotTakeDescriptorOfSibling", "pidfd_getfd"},
      {"CannotMakeUserNamespaceByUnshare", "unshare"},
      {"CannotMakeUserNamespaceByClone", "clone"},
      {"CannotMakeUserNamespaceByClone3", "clone3"},
      {"CannotMakeEveryNamespace", "unshare"},
      {"CannotEnterNamespace", "setns"},
      {"CannotMount", "mount"},
      {"CannotMountProc", "mount"},
      {"CannotBindMount", "mount"},
      {"CannotOpenFileSystem", "fsopen"},
      {"CannotCloneMountTree", "open_tree"},
      {"CannotRemountWritable", "mount"},
      {"CannotSetMountWritable", "mount_setattr"},
      {"CannotUnmount", "umount2"},
      {"CannotPivot", "pivot_root"},
      {"CannotChangeRoot", "chroot"},
      {"CannotChangeHostName", "sethostname"},
      {"CannotUseIoUring", "io_uring_setup"},
      {"CannotUseAio", "io_setup"},
      {"CannotUseBpf", "bpf"},
      {"CannotUsePerfEvents", "perf_event_open"},
      {"CannotUseUserfaultfd", "userfaultfd"},
      {"CannotAddKey", "add_key"},
      {"CannotReachSessionKeyring", "keyctl"},
      {"CannotRequestKey", "request_key"},
      {"CannotReadKernelLog", "syslog"},
      {"CannotSetClock", "clock_settime"},
      {"CannotSwap", "swapon"},
      {"CannotUsePorts", "ioperm"},
      {"CannotSwitchAddressRandomisationOff", "personality"},
      {"CannotChangePersonaByBitsAbove", "personality"},
      {"CannotUseLocalDescriptorTable", "modify_ldt"},
      {"CannotUseFanotify", "fanotify_init"},
      {"CannotCompareKernelPointers", "kcmp"},
      {"CannotUseMessageQueues", "msgget"},
      {"CannotMovePages", "move_pages"},
      {"CannotRemapFilePages", "remap_file_pages"},
      {"CannotSpliceMemory", "vmsplice"},
      {"CannotGetHandleOfFile", "name_to_handle_at"},
      {"CannotUseI386Calls", "a system call of a foreign architecture"},
      {"CannotUseX32Calls", "a system call of a foreign architecture"},
      {"CannotTypeIntoTerminal", "ioctl"},
      {"CannotTypeIntoTerminalByBitsAbove", "ioctl"},
      {"CannotChangeLineDiscipline", "ioctl"},
      {"CannotChangeLineDisciplineByBitsAbove", "ioctl"},
      {"CannotConnectToSocketBelowGrantWithNoUnix", "socket"},
      {"CannotOpenAlgorithmSocket", "socket"},
      {"CannotOpenVsock", "socket"},
      {"CannotOpenXdpSocket", "socket"},
      {"CannotOpenPacketSocket", "socket"},
  };
  return kAll;
}

// By its call, or by a path or a port that the attack was told.
bool names_it(const Denial& denial, const Attack& attack, const Words& words) {
  const auto call = calls().find(attack.name);
  if (call != calls().end()) {
    return denial.kind == Denial::Kind::system_call && denial.what == call->second;
  }
  return std::ranges::any_of(words, [&](const std::string& word) {
    return denial.what == linux_backend::lexically_normal(word) ||
           (denial.kind == Denial::Kind::connect && denial.what.ends_with(":" + word));
  });
}

class ExplainedAttack : public EachAttack {};

TEST_P(ExplainedAttack, IsStoppedAllTheSameAndNamed) {
  const Attack& attack = GetParam();
  Request request = request_for(attack, bait_);
  request.explain = true;
  const Outcome outcome = run(manager(), request);
  expect_stopped(outcome);
  const auto reason = unreported().find(attack.name);
  // A kernel without what it needs stops it sooner; the filter refuses calls on every kernel.
  const bool too_soon = !attack.unguarded.may_be_missing.empty() && !calls().contains(attack.name);
  if (reason == unreported().end() && !too_soon) {
    EXPECT_TRUE(std::ranges::any_of(
        outcome.denials,
        [&](const Denial& denial) { return names_it(denial, attack, request.args); }))
        << "it is not named: " << to_json(outcome);
  }
  for (const Denial& denial : outcome.denials) {
    EXPECT_FALSE(denial.allow.empty() && denial.reason.empty()) << denial.what;
  }
}

INSTANTIATE_TEST_SUITE_P(, ExplainedAttack, testing::ValuesIn(all_attacks()),
                         [](const auto& attack) { return attack.param.name; });

TEST(ExplainedAttacksTest, EveryReasonBelongsToAnAttack) {
  const auto all = all_attacks();
  for (const auto& names : {unreported(), calls()}) {
    for (const auto& [name, said] : names) {
      EXPECT_TRUE(std::ranges::any_of(all, [&](const Attack& a) { return a.name == name; }))
          << name;
    }
  }
}

}  // namespace
}  // namespace cordon::escape
