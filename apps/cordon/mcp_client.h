// The client of an MCP server: what is said to it goes to the command's stdout. Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "mcp/message.h"
#include "run_control.h"
#include "wake.h"

namespace cordon::app {

// A longer message is none: it would have to be kept whole.
inline constexpr std::uint32_t kLongestMessage = 16U << 20;

// What a line between client and server may be.
[[nodiscard]] constexpr mcp::MessageLimits message_limits() {
  return {.json = {.max_bytes = kLongestMessage}, .max_batch = 1000};
}

class McpClient {
 public:
  // Both must outlive this object. A client that is gone ends the run.
  McpClient(RunControl& control, const Wake& abandoned)
      : control_(control), abandoned_(abandoned) {}

  // One line, whole.
  void send(std::string_view line);

 private:
  RunControl& control_;
  const Wake& abandoned_;
  std::mutex mutex_;
  std::string text_;
  bool broken_ = false;
};

// "[…,…]"
[[nodiscard]] std::string batch_of(const auto& texts) {
  std::string all = "[";
  for (const auto& text : texts) {
    if (all.size() > 1) all += ',';
    all += text;
  }
  return all + ']';
}

}  // namespace cordon::app
