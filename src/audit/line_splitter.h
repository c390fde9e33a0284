// Cuts bytes that come in parts into lines, with bounded memory whatever comes. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::audit {

class LineSplitter {
 public:
  struct Line {
    std::string_view text;  // without its newline; valid until the next add()
    std::size_t size = 0;   // with it
    bool too_long = false;  // more than kLongestLine: `text` is empty
  };

  void add(std::string_view bytes);
  // The next whole line; empty: add more.
  [[nodiscard]] std::optional<Line> next();
  // Bytes of a line that has not ended.
  [[nodiscard]] std::size_t unfinished() const { return skipped_ + held_.size() - begin_; }

 private:
  std::string held_;
  std::size_t begin_ = 0;    // of what was not handed out yet
  std::size_t skipped_ = 0;  // of a line that is too long to keep
};

}  // namespace cordon::audit
