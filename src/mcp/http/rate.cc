#include "mcp/http/rate.h"

#include <algorithm>
#include <chrono>

namespace cordon::mcp {
namespace {

constexpr std::size_t kMostKnown = 4096;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void HttpRate::forget(TimePoint now) {
  std::erase_if(left_, [&](const auto& entry) {
    return entry.second.requests + seconds(now - entry.second.at) * per_second_ >= per_second_;
  });
}

std::optional<Duration> HttpRate::take(std::string_view who, TimePoint now) {
  if (per_second_ == 0) return std::nullopt;
  auto found = left_.find(who);
  if (found == left_.end()) {
    if (left_.size() >= kMostKnown) forget(now);
    if (left_.size() >= kMostKnown) return std::chrono::seconds(1);
    found = left_.emplace(std::string(who), Left{static_cast<double>(per_second_), now}).first;
  }
  Left& left = found->second;
  left.requests = std::min(left.requests + seconds(now - left.at) * per_second_,
                           static_cast<double>(per_second_));
  left.at = now;
  if (left.requests >= 1) {
    left.requests -= 1;
    return std::nullopt;
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>((1 - left.requests) / per_second_));
}

}  // namespace cordon::mcp
