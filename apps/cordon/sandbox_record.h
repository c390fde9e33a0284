// What is kept on disk about a sandbox: who supervises it, and how it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/sandbox.h"

namespace cordon::app::sandbox {

struct Record {
  std::string name{};
  std::string container{};  // of this life; empty: it has not begun
  std::string backend{};
  SandboxState state = SandboxState::initialized;
  std::string created{};                // RFC 3339
  std::int64_t pid = 0;                 // of its supervisor
  std::string image{};                  // that it was restored from; empty: none
  std::string checkpoint{};             // the last image that was written of it; empty: none
  std::vector<std::string> command{};   // the main program and its arguments
  std::string failure{};                // why it failed
  std::string outcome{};                // of the main program, as JSON; empty: it has not ended
  std::vector<std::string> policies{};  // files that hold for what is executed in it, too …
  std::string profile{};                // … and the profile of them
};

// One object on one line, without a newline.
[[nodiscard]] std::string to_json(const Record& record);
// Nothing: this is no such object.
[[nodiscard]] std::optional<Record> parse_record(std::string_view text);

}  // namespace cordon::app::sandbox
