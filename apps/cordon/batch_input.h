// The file of requests, and its lines.
//
// A regular file is read as it is, as often as needed and without being kept in memory; digests of
// its blocks tell whether it is still the same, for a program that may write to it must not slip in
// requests of its own. What can be read only once (a pipe, stdin) is kept, up to kMostKept bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/sha256.h"
#include "cordon/error.h"

namespace cordon::app {

inline constexpr std::size_t kBlock = std::size_t{64} * 1024;
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
  // A part of it, kBlock long but for the last; empty: the end. Error: it cannot be read, or is not
  // what it was before seal().
  [[nodiscard]] Result<std::string> block(std::uint64_t index);
  // All of it was read, and is not to change from here on.
  void seal() { sealed_ = true; }

 private:
  BatchInput() = default;
  [[nodiscard]] Result<std::string> read_block(std::uint64_t index) const;

  base::Fd file_;     // regular; or else …
  std::string kept_;  // … all of it
  std::string name_;
  std::vector<base::Digest> digests_;  // of the blocks of the file that were read
  bool sealed_ = false;
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
  LineReader(BatchInput& input, std::size_t longest) : input_(&input), longest_(longest) {}

  // Nothing: the end. Error: it cannot be read.
  [[nodiscard]] Result<std::optional<InputLine>> next();
  // Where the line that next() has returned ends.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  [[nodiscard]] Result<bool> read_line(InputLine& line);

  BatchInput* input_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t used_ = 0;      // of the buffer
  std::uint64_t blocks_ = 0;  // of the input that were read
  std::uint64_t read_ = 0;    // bytes of it
  std::uint64_t offset_ = 0;  // of what was handed out
  std::uint64_t number_ = 0;
};

}  // namespace cordon::app
