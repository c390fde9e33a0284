// Reads the log line by line, from any place on, across its files; also while it grows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/directory.h"
#include "audit/line_splitter.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::audit {

// Where a line begins.
struct Position {
  std::uint64_t file = 1;
  std::uint64_t offset = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

class Reader {
 public:
  struct Line {
    Position at;
    std::string_view text;  // without its newline; valid until the next call
    bool too_long = false;  // then `text` is empty
  };

  // `directory` must outlive this object.
  explicit Reader(const Directory& directory, Position from = {})
      : directory_(directory), at_(from), read_to_(from.offset) {}

  // The next whole line; empty: there is none yet. Error: a file cannot be read.
  [[nodiscard]] Result<std::optional<Line>> next();
  // Where the line after the last one begins.
  [[nodiscard]] Position position() const { return at_; }

 private:
  [[nodiscard]] Result<bool> read_more();
  [[nodiscard]] Result<bool> next_file();

  const Directory& directory_;
  Position at_;
  std::uint64_t read_to_;  // in the same file
  base::Fd file_;
  LineSplitter splitter_;
};

// One line of the log, wherever it is.
[[nodiscard]] Result<std::string> line_at(const Directory& directory, Position at);

}  // namespace cordon::audit
