// Writes programs of classic BPF with labels in place of distances. Only what seccomp filters need.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace cordon::linux_backend {

class BpfAssembler {
 public:
  enum class Label : std::uint32_t {};

  [[nodiscard]] Label make_label();
  void bind(Label label);  // to the next instruction

  void load(std::uint32_t offset);  // a word of seccomp_data
  void if_equal(std::uint32_t value, Label then, Label otherwise);
  void if_at_least(std::uint32_t value, Label then, Label otherwise);
  void if_any_bit(std::uint32_t bits, Label then, Label otherwise);
  void answer(std::uint32_t value);

  // Nothing: a label is bound to nothing, lies behind its jump, or is too far from it (the
  // instruction has 8 bits for a distance).
  [[nodiscard]] std::optional<std::vector<sock_filter>> finish() const;

 private:
  struct Instruction {
    std::uint16_t code = 0;
    std::uint32_t operand = 0;
    Label then{};
    Label otherwise{};
  };
  void branch(std::uint16_t condition, std::uint32_t value, Label then, Label otherwise);

  std::vector<Instruction> instructions_;
  std::vector<std::optional<std::size_t>> bound_;  // by label: index of an instruction
};

}  // namespace cordon::linux_backend
