#include "escape/attacks.h"

namespace cordon::escape {
namespace {

const Unguarded kNoSeccomp{.without = {"seccomp"}};
const Unguarded kAsRoot{.no_sandbox = true, .needs_root = true};

Attack calls(std::string name, std::string call, Unguarded unguarded = kNoSeccomp) {
  return {std::move(name), told({"call", std::move(call)}), std::move(unguarded)};
}

Unguarded unless(std::string missing) {
  return {.without = {"seccomp"}, .may_be_missing = std::move(missing)};
}

// The terminal of the caller as stdin.
Attack types(std::string name, std::string what, std::string bits_above, Unguarded unguarded) {
  return {std::move(name), told({std::move(what), std::move(bits_above)}), std::move(unguarded),
          [](Request& request, const Bait& bait) { request.in = Input::from_fd(bait.terminal()); }};
}

}  // namespace

std::vector<Attack> kernel_attacks() {
  return {
      calls("CannotUseIoUring", "io_uring", unless("io_uring is switched off here")),
      calls("CannotUseAio", "aio", unless("this kernel has no AIO")),
      calls("CannotUseBpf", "bpf", kAsRoot),
      calls("CannotUsePerfEvents", "perf_event", unless("kernel.perf_event_paranoid is above 2")),
      calls("CannotUseUserfaultfd", "userfaultfd", unless("this kernel has no userfaultfd")),
      calls("CannotAddKey", "add_key"),
      calls("CannotReachSessionKeyring", "session_keyring"),
      calls("CannotRequestKey", "request_key"),
      calls("CannotReadKernelLog", "kernel_log", kAsRoot),
      calls("CannotSetClock", "set_clock"),
      calls("CannotSwap", "swap_on", kAsRoot),
      calls(
          "CannotUsePorts", "ports",
          {.no_sandbox = true, .needs_root = true, .may_be_missing = "this kernel has no ioperm"}),
      calls("CannotSwitchAddressRandomisationOff", "persona"),
      calls("CannotChangePersonaByBitsAbove", "wide_persona"),
      calls("CannotUseLocalDescriptorTable", "modify_ldt", unless("this kernel has none")),
      calls("CannotUseFanotify", "fanotify", unless("this kernel has no fanotify")),
      calls("CannotCompareKernelPointers", "kcmp", unless("this kernel has no kcmp")),
      calls("CannotUseMessageQueues", "message_queue"),
      calls("CannotMovePages", "move_pages", unless("this kernel has no NUMA")),
      calls("CannotRemapFilePages", "remap_file_pages"),
      calls("CannotSpliceMemory", "vmsplice"),
      calls("CannotGetHandleOfFile", "name_to_handle"),
      calls("CannotUseI386Calls", "i386", unless("this kernel has no 32-bit entry")),
      calls("CannotUseX32Calls", "x32", unless("this kernel has no x32 calls")),
      types("CannotTypeIntoTerminal", "type-into-terminal", "0", kAsRoot),
      types("CannotTypeIntoTerminalByBitsAbove", "type-into-terminal", "1", kAsRoot),
      types("CannotChangeLineDiscipline", "change-line-discipline", "0", kNoSeccomp),
      types("CannotChangeLineDisciplineByBitsAbove", "change-line-discipline", "1", kNoSeccomp),
  };
}

}  // namespace cordon::escape
