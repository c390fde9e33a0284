// The conversation of `cordon mcp inspect` with a server.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cordon/clock.h"
#include "cordon/events.h"
#include "cordon/process.h"
#include "mcp/client.h"
#include "mcp/gate.h"

namespace cordon::app {

struct Inspect {
  std::string call{};                                        // a tool; empty: list what there is
  std::vector<std::pair<std::string, std::string>> given{};  // arguments: names and values
  std::string arguments{};                                   // or all of them, as JSON
  Duration wait = std::chrono::seconds(30);
  Duration grace{};
};

// What came of it. Texts are JSON as the server wrote it.
struct Inspected {
  std::optional<mcp::ServerFacts> server{};
  std::vector<std::string> tools{};
  std::vector<std::string> resources{};
  std::vector<std::string> templates{};
  std::vector<std::string> prompts{};
  std::optional<std::string> result{};  // of the call
  std::optional<mcp::AskFailure> failure{};
  std::string log{};  // the end of the server's stderr
  std::uint64_t noise = 0;
  std::string first_noise{};
};

// Returns once the server has ended.
[[nodiscard]] Inspected inspect_server(Process& process, EventStream events, Clock& clock,
                                       mcp::Gate* gate, const Inspect& asked);

// The arguments of a call. What the tool's schema says is a text stays one; anything else is taken
// as JSON if it is some.
[[nodiscard]] std::string call_arguments(const Inspect& asked,
                                         const std::vector<std::string>& tools);

}  // namespace cordon::app
