// What a batch writes: one line a request, in the order of the requests. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "cordon/outcome.h"

namespace cordon::app {

// Of which request a line is the result.
struct ResultHead {
  std::uint64_t line = 0;
  std::optional<std::string> id{};
  std::string digest{};
};

// {"line":3,"id":"a","request":"…","outcome":{…},"stdout":"…","stderr":"…"} and a newline. What is
// not UTF-8 becomes "stdout_base64" or "stderr_base64" instead.
[[nodiscard]] std::string result_line(const ResultHead& head, const Outcome& outcome);
// {"line":3,"id":null,"request":"…","error":{"code","stage","os_error","message"}}, for what was
// not tried.
[[nodiscard]] std::string result_line(const ResultHead& head, const Error& error);

// Puts results back into the order of their requests.
class ResultOrder {
 public:
  ResultOrder(std::size_t most_held, std::size_t most_bytes)
      : most_held_(most_held), most_bytes_(most_bytes) {}

  // `index`: 0, 1, 2 … without gaps in the end.
  void put(std::uint64_t index, std::string text);
  // Everything whose turn it is, as one text; empty: nothing.
  [[nodiscard]] std::string take();
  // Whether a further request may be begun: not if so much is waiting for a slow one before it
  // that it would grow without bound.
  [[nodiscard]] bool has_room() const { return held_.size() < most_held_ && bytes_ < most_bytes_; }
  [[nodiscard]] std::size_t held() const { return held_.size(); }

 private:
  std::size_t most_held_;
  std::size_t most_bytes_;
  std::map<std::uint64_t, std::string> held_;
  std::size_t bytes_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace cordon::app
