// The file of requests, and its lines.
//
// A regular file is read as it is, as often as needed and without being kept in memory. What can be
// read only once (a pipe, stdin) is kept, up to kMostKept bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app {

inline constexpr std::size_t kMostKept = std::size_t{256} * 1024 * 1024;

class BatchInput {
 public:
  // "-" is stdin. Error: it cannot be opened, or is a pipe with too much in it.
  [[nodiscard]] static Result<BatchInput> open(const std::string& path);
  // For what is open already. Borrows nothing.
  [[nodiscard]] static BatchInput of(base::Fd file, std::string name);
  [[nodiscard]] static BatchInput of_text(std::string text, std::string name);

  // How messages call it.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Bytes that were read to `into`; 0: the end.
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const;

 private:
  BatchInput() = default;

  base::Fd file_;     // regular; or else …
  std::string kept_;  // … all of it
  std::string name_;
};

struct InputLine {
  std::uint64_t number = 0;  // from 1
  std::string text{};        // without its end ("\n" or "\r\n"); the first bytes if it is too long
  bool too_long = false;
  bool whole = true;  // false: the file ends before the line does
};

// One line after the other that is not blank; blank ones are counted. A byte order mark at the
// beginning is no part of the first.
class LineReader {
 public:
  // Borrows `input`. At most `longest` bytes of a line are kept.
  LineReader(const BatchInput& input, std::size_t longest) : input_(&input), longest_(longest) {}

  // Nothing: the end. Error: it cannot be read.
  [[nodiscard]] Result<std::optional<InputLine>> next();
  // Where the line that next() has returned ends.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  [[nodiscard]] Result<bool> read_line(InputLine& line);

  const BatchInput* input_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t used_ = 0;      // of the buffer
  std::uint64_t read_ = 0;    // of the input
  std::uint64_t offset_ = 0;  // of what was handed out
  std::uint64_t number_ = 0;
};

}  // namespace cordon::app
