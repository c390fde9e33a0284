// Passes what is typed on the command's terminal on to the program.
//
// A program is in a process group of its own, so it cannot read the command's terminal itself: the
// OS would stop it. A thread of the relay reads for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cordon/clock.h"
#include "cordon/process.h"
#include "run_control.h"
#include "wake.h"

namespace cordon::app {

class InputRelay {
 public:
  enum class Keys : std::uint8_t {
    cooked,  // lines; Ctrl-C comes as a signal
    raw,     // every key; Ctrl-C is one of them, and the second within kAgain ends the run
  };
  static constexpr Duration kAgain = std::chrono::seconds(1);

  // Relays from the descriptor `from` until its end or the relay's own.
  InputRelay(Process& process, RunControl& control, Clock& clock, int from, Keys keys, Wake stop);
  ~InputRelay();
  InputRelay(const InputRelay&) = delete;
  InputRelay& operator=(const InputRelay&) = delete;

 private:
  enum class Turn : std::uint8_t { go_on, ended };

  void relay();
  [[nodiscard]] Turn read_some();
  [[nodiscard]] Turn write_some();
  void watch_for_interrupts(std::string_view typed);

  Process& process_;
  RunControl& control_;
  Clock& clock_;
  const int from_;
  const Keys keys_;
  const Wake stop_;
  std::string pending_;  // read, but not yet taken by the program
  std::optional<TimePoint> last_interrupt_;
  std::thread thread_;
};

}  // namespace cordon::app
