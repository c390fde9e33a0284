// What signals do to a program that says nothing about them.
#pragma once

#include <csignal>
#include <cstdint>

namespace cordon::memory {

enum class DefaultAction : std::uint8_t { end, ignore, stop, go_on };
[[nodiscard]] DefaultAction default_action(int signal);

// SIGKILL and SIGSTOP take their course whatever the program wants.
[[nodiscard]] constexpr bool can_be_changed(int signal) {
  return signal != SIGKILL && signal != SIGSTOP;
}

// A set of signals 1 … 64.
class SignalSet {
 public:
  void add(int signal) { bits_ |= bit(signal); }
  void remove(int signal) { bits_ &= ~bit(signal); }
  [[nodiscard]] bool has(int signal) const { return (bits_ & bit(signal)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint64_t bit(int signal) {
    return signal < 1 || signal > 64 ? 0 : std::uint64_t{1} << (signal - 1);
  }
  std::uint64_t bits_ = 0;
};
inline constexpr int kLastSignal = 64;

}  // namespace cordon::memory
