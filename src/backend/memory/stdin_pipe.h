// A simulated stdin: bytes given in advance, a pipe with back-pressure, or nothing.
//
// Not thread-safe: the simulation locks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/request.h"

namespace cordon::memory {

class StdinPipe {
 public:
  static constexpr std::size_t kCapacity = 64 * 1024;  // as a pipe of the OS

  // Takes what is in `input`; `real` is for input that comes from a descriptor.
  void open(Input& input, std::shared_ptr<const base::Fd> real);

  // --- The caller's side.
  [[nodiscard]] bool open_for_writing() const { return writable_ && readable_; }
  [[nodiscard]] std::size_t room() const;
  // Takes as much as fits.
  std::size_t write(std::string_view data);
  void close_writer() { writable_ = false; }

  // --- The program's side.
  [[nodiscard]] std::string_view at_hand() const {
    return readable_ ? std::string_view(data_) : std::string_view{};
  }
  // The program has read more than it used.
  [[nodiscard]] bool has_unused() const { return !unused_.empty(); }
  // No byte will come any more (there may be some at hand).
  [[nodiscard]] bool ended() const { return !readable_ || (!writable_ && !real_); }
  // Moves what is at hand into the program's own buffer and cuts a line off it. At the end the rest
  // is a line.
  [[nodiscard]] std::optional<std::string> take_line();
  [[nodiscard]] std::string take_all();
  void close_reader();

  // The descriptor to read from when nothing is at hand; may be null.
  [[nodiscard]] const std::shared_ptr<const base::Fd>& real() const { return real_; }
  // What came from it; empty: end of file.
  void feed(std::string_view data);

 private:
  std::string data_;    // in the pipe
  std::string unused_;  // read by the program while it looked for a line
  bool writable_ = false;
  bool readable_ = true;
  std::shared_ptr<const base::Fd> real_;  // shared with who is reading
};

}  // namespace cordon::memory
