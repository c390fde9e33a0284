#include "audit/line_splitter.h"

#include <utility>

#include "audit/record.h"

namespace cordon::audit {

void LineSplitter::add(std::string_view bytes) {
  held_.erase(0, std::exchange(begin_, 0));
  held_ += bytes;
}

std::optional<LineSplitter::Line> LineSplitter::next() {
  const std::size_t newline = held_.find('\n', begin_);
  if (newline == std::string::npos) {
    if (unfinished() > kLongestLine) {
      skipped_ += held_.size() - begin_;
      begin_ = held_.size();
    }
    return std::nullopt;
  }
  Line line{.size = newline + 1 - begin_ + std::exchange(skipped_, 0)};
  line.too_long = line.size > kLongestLine + 1;
  if (!line.too_long) line.text = std::string_view(held_).substr(begin_, newline - begin_);
  begin_ = newline + 1;
  return line;
}

}  // namespace cordon::audit
