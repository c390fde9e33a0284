#include "backend/linux/spawner/interpreter.h"

#include <asm/unistd.h>
#include <linux/sched.h>

#include "backend/linux/spawner/nursery.h"
#include "backend/linux/spawner/receive.h"
#include "backend/linux/spawner/syscalls.h"

namespace cordon::linux_backend::spawner {
namespace {

constexpr long kEINTR = 4;
constexpr long kEIO = 5;
constexpr long kEPIPE = 32;
constexpr long kESTALE = 116;
constexpr long kENOENT = 2;
constexpr long kEACCES = 13;
constexpr long kENOTDIR = 20;

constexpr std::uint64_t kEmptyPath = 0x1000;  // AT_EMPTY_PATH

constexpr int kFailedStatus = 125;

[[noreturn]] void end(int status) {
  for (;;) call(__NR_exit_group, static_cast<std::uint64_t>(status));
}

// The kernel's struct stat of x86_64, as far as it is used.
struct KernelStat {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t rest[16];
};

long expect_file(std::uint64_t fd, std::uint64_t device, std::uint64_t inode) {
  KernelStat found{};
  const long error = call(__NR_fstat, fd, address(&found));
  if (error < 0) return error;
  return found.device == device && found.inode == inode ? 0 : -kESTALE;
}

// The bytes stay in the kernel.
long copy_bytes(std::uint64_t to, std::uint64_t from, std::uint64_t offset, std::uint64_t size) {
  while (size > 0) {
    const long copied = call(__NR_sendfile, to, from, address(&offset), size);
    if (copied == -kEINTR) continue;
    if (copied <= 0) return copied < 0 ? copied : -kEIO;
    size -= static_cast<std::uint64_t>(copied);
  }
  return 0;
}

void wait_for_release() {
  char byte = 0;
  long got = 0;
  do {
    got = call(__NR_read, kStatusFd, address(&byte), 1);
  } while (got == -kEINTR);
  if (got != 1) end(kFailedStatus);  // the supervisor is gone, or does not want this one
}

// Of several places a program was looked for in, "may not" says more than "is not there".
long worse(long before, long now) {
  const bool absent = now == -kENOENT || now == -kENOTDIR;
  return before == -kEACCES || (before != 0 && absent) ? before : now;
}

struct Machine {
  Role role;
  std::uint64_t registers[kRegisters];
  long exec_error;
};

std::uint64_t argument(const Machine& machine, const Step& step, int index) {
  const std::uint64_t value = step.args[index];
  return ((step.from_register >> index) & 1U) != 0 ? machine.registers[value % kRegisters] : value;
}

long clone_role(std::uint64_t flags, Role role) {
  clone_args args{};
  args.flags = flags;
  const long pid = call(__NR_clone3, address(&args), sizeof args);
  if (pid == 0) run_section(role);
  if (pid > 0 && !send_report({ReportKind::cloned, role, {}, 0, 0, pid})) return -kEPIPE;
  return pid;
}

// The step's result; negative: it failed.
long carry_out(Machine& machine, const Step& step) {
  const auto arg = [&](int index) { return argument(machine, step, index); };
  switch (step.op) {
    case Op::call:
      return call(step.number, arg(0), arg(1), arg(2), arg(3), arg(4), arg(5));
    case Op::clone:
      return clone_role(arg(0), static_cast<Role>(arg(1)));
    case Op::store:
      at<std::uint32_t>(arg(0)) = static_cast<std::uint32_t>(arg(1));
      return 0;
    case Op::expect:
      return expect_file(arg(0), arg(1), arg(2));
    case Op::copy:
      return copy_bytes(arg(0), arg(1), arg(2), arg(3));
    case Op::here:
      return send_report({ReportKind::here, machine.role, {}, 0, 0, 0}) ? 0 : -kEPIPE;
    case Op::ready:
    case Op::park:
      if (!send_report({ReportKind::parked, machine.role, {}, 0, 0, 0})) return -kEPIPE;
      if (step.op == Op::park) wait_for_release();
      return 0;
    case Op::await:
      wait_for_release();
      return 0;
    case Op::receive:
      if (!send_report({ReportKind::parked, machine.role, {}, 0, 0, 0})) return -kEPIPE;
      if (!receive_script(kLetterFd, 0)) end(kFailedStatus);
      run_section(machine.role);
    case Op::nurse:
      if (!send_report({ReportKind::parked, machine.role, {}, 0, 0, 0})) return -kEPIPE;
      run_nursery();
    case Op::execute:
      machine.exec_error = worse(machine.exec_error, call(__NR_execve, arg(0), arg(1), arg(2)));
      return 0;
    case Op::execute_open:
      machine.exec_error = worse(
          machine.exec_error, call(__NR_execveat, arg(0), address(""), arg(1), arg(2), kEmptyPath));
      return 0;
    case Op::give_up:
      send_report({ReportKind::not_executed,
                   machine.role,
                   {},
                   0,
                   static_cast<std::int32_t>(-machine.exec_error),
                   0});
      end(kFailedStatus);
    case Op::sleep:
      if (call(__NR_munmap, kArena, kArenaSize) != 0) end(kFailedStatus);
      for (;;) call(__NR_pause);
    case Op::exit:
      end(0);
  }
  end(kFailedStatus);
}

}  // namespace

bool send_report(const Report& report) {
  constexpr std::uint64_t kNoSignal = 0x4000;
  long sent = 0;
  do {
    sent = call(__NR_sendto, kStatusFd, address(&report), sizeof report, kNoSignal);
  } while (sent == -kEINTR);
  return sent == sizeof report;
}

void run_section(Role role) {
  const auto& script = at<const Script>(kArena);
  const Section& section = script.sections[static_cast<int>(role)];
  const auto* steps = &at<const Step>(section.steps);
  // What the set-up process has put into registers, its children find there.
  static Machine machine;
  machine.role = role;
  for (std::uint64_t i = 0; i < section.count; ++i) {
    const Step& step = steps[i];
    const long result = carry_out(machine, step);
    if (result < 0 && step.tolerated != kAnyError && result != -static_cast<long>(step.tolerated)) {
      send_report({ReportKind::failed,
                   role,
                   {},
                   static_cast<std::uint32_t>(i),
                   static_cast<std::int32_t>(-result),
                   0});
      end(kFailedStatus);
    }
    if (step.into != 0)
      machine.registers[step.into % kRegisters] = static_cast<std::uint64_t>(result);
  }
  end(0);
}

}  // namespace cordon::linux_backend::spawner
