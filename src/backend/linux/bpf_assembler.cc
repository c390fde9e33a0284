#include "backend/linux/bpf_assembler.h"

#include <limits>

namespace cordon::linux_backend {

BpfAssembler::Label BpfAssembler::make_label() {
  bound_.emplace_back();
  return Label(bound_.size() - 1);
}

void BpfAssembler::bind(Label label) {
  bound_[static_cast<std::size_t>(label)] = instructions_.size();
}

void BpfAssembler::load(std::uint32_t offset) {
  instructions_.push_back({.code = BPF_LD | BPF_W | BPF_ABS, .operand = offset});
}

void BpfAssembler::if_equal(std::uint32_t value, Label then, Label otherwise) {
  branch(BPF_JEQ, value, then, otherwise);
}

void BpfAssembler::if_at_least(std::uint32_t value, Label then, Label otherwise) {
  branch(BPF_JGE, value, then, otherwise);
}

void BpfAssembler::if_any_bit(std::uint32_t bits, Label then, Label otherwise) {
  branch(BPF_JSET, bits, then, otherwise);
}

void BpfAssembler::answer(std::uint32_t value) {
  instructions_.push_back({.code = BPF_RET | BPF_K, .operand = value});
}

void BpfAssembler::branch(std::uint16_t condition, std::uint32_t value, Label then,
                          Label otherwise) {
  instructions_.push_back({.code = static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K),
                           .operand = value,
                           .then = then,
                           .otherwise = otherwise});
}

std::optional<std::vector<sock_filter>> BpfAssembler::finish() const {
  std::vector<sock_filter> program;
  program.reserve(instructions_.size());
  const auto distance = [&](Label label) -> std::optional<std::uint8_t> {
    const auto target = bound_[static_cast<std::size_t>(label)];
    const std::size_t next = program.size() + 1;
    if (!target || *target < next || *target >= instructions_.size()) return std::nullopt;
    if (*target - next > std::numeric_limits<std::uint8_t>::max()) return std::nullopt;
    return static_cast<std::uint8_t>(*target - next);
  };
  for (const Instruction& instruction : instructions_) {
    sock_filter encoded{.code = instruction.code, .jt = 0, .jf = 0, .k = instruction.operand};
    if (BPF_CLASS(instruction.code) == BPF_JMP) {
      const auto then = distance(instruction.then);
      const auto otherwise = distance(instruction.otherwise);
      if (!then || !otherwise) return std::nullopt;
      encoded.jt = *then;
      encoded.jf = *otherwise;
    }
    program.push_back(encoded);
  }
  return program;
}

}  // namespace cordon::linux_backend
