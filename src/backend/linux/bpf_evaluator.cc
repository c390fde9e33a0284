#include "backend/linux/bpf_evaluator.h"

#include <array>
#include <cstring>
#include <ranges>

namespace cordon::linux_backend {
namespace {

struct Machine {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
};

bool load(Machine& m, const sock_filter& op, const seccomp_data& call) {
  switch (BPF_MODE(op.code)) {
    case BPF_ABS:
      if (op.k % 4 != 0 || op.k >= sizeof call) return false;
      std::memcpy(&m.a, reinterpret_cast<const char*>(&call) + op.k, sizeof m.a);
      return true;
    case BPF_IMM:
      m.a = op.k;
      return true;
    case BPF_MEM:
      if (op.k >= m.memory.size()) return false;
      m.a = m.memory[op.k];
      return true;
    default:
      return false;
  }
}

bool calculate(Machine& m, const sock_filter& op) {
  const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? m.x : op.k;
  switch (BPF_OP(op.code)) {
    case BPF_AND:
      m.a &= operand;
      return true;
    case BPF_OR:
      m.a |= operand;
      return true;
    case BPF_ADD:
      m.a += operand;
      return true;
    case BPF_SUB:
      m.a -= operand;
      return true;
    default:
      return false;
  }
}

// How far to jump beyond the next instruction.
std::optional<std::uint32_t> jump(const Machine& m, const sock_filter& op) {
  const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? m.x : op.k;
  switch (BPF_OP(op.code)) {
    case BPF_JA:
      return op.k;
    case BPF_JEQ:
      return m.a == operand ? op.jt : op.jf;
    case BPF_JGT:
      return m.a > operand ? op.jt : op.jf;
    case BPF_JGE:
      return m.a >= operand ? op.jt : op.jf;
    case BPF_JSET:
      return (m.a & operand) != 0 ? op.jt : op.jf;
    default:
      return std::nullopt;
  }
}

bool store(Machine& m, const sock_filter& op) {
  if (op.k >= m.memory.size()) return false;
  m.memory[op.k] = BPF_CLASS(op.code) == BPF_ST ? m.a : m.x;
  return true;
}

// An action of the kernel by strictness: KILL_PROCESS is the smallest when read as signed.
std::int32_t strictness(std::uint32_t answer) {
  return static_cast<std::int32_t>(answer & SECCOMP_RET_ACTION_FULL);
}

}  // namespace

std::optional<std::uint32_t> evaluate(std::span<const sock_filter> program,
                                      const seccomp_data& call) {
  Machine m;
  for (std::size_t at = 0; at < program.size(); ++at) {  // jumps go forward only
    const sock_filter& op = program[at];
    bool known = true;
    switch (BPF_CLASS(op.code)) {
      case BPF_LD:
        known = BPF_SIZE(op.code) == BPF_W && load(m, op, call);
        break;
      case BPF_ALU:
        known = calculate(m, op);
        break;
      case BPF_JMP:
        if (const auto distance = jump(m, op)) {
          at += *distance;
        } else {
          known = false;
        }
        break;
      case BPF_RET:
        return BPF_RVAL(op.code) == BPF_A ? m.a : op.k;
      case BPF_ST:
      case BPF_STX:
        known = store(m, op);
        break;
      case BPF_MISC:
        if (BPF_MISCOP(op.code) == BPF_TAX) {
          m.x = m.a;
        } else {
          m.a = m.x;
        }
        break;
      default:
        known = false;
    }
    if (!known) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> evaluate(std::span<const std::vector<sock_filter>> programs,
                                      const seccomp_data& call) {
  std::uint32_t strictest = SECCOMP_RET_ALLOW;
  for (const auto& program : programs | std::views::reverse) {
    const auto answer = evaluate(std::span(program), call);
    if (!answer) return std::nullopt;
    if (strictness(*answer) < strictness(strictest)) strictest = *answer;
  }
  return strictest;
}

}  // namespace cordon::linux_backend
