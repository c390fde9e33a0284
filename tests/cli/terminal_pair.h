// A terminal whose user is the test.
#pragma once

#include <termios.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/fd.h"

namespace cordon::cli {

class TerminalPair {
 public:
  TerminalPair(std::uint16_t rows, std::uint16_t columns);

  [[nodiscard]] const std::string& path() const { return path_; }
  // The user's end: what is written is typed, what is read is shown. Can be taken once.
  [[nodiscard]] base::Fd take_user_end() { return std::move(master_); }
  void resize(std::uint16_t rows, std::uint16_t columns) const;
  [[nodiscard]] termios settings() const;

 private:
  base::Fd master_;
  base::Fd slave_;  // kept open: the settings outlive the command
  std::string path_;
};

}  // namespace cordon::cli
