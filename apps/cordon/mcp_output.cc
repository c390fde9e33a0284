#include "mcp_output.h"

#include <unistd.h>

#include <string_view>

#include "mcp_wire.h"
#include "write_all.h"

namespace cordon::app {

Output message_lines() {
  return Output::events({.mode = OutputMode::line, .max_frame = kLongestMessage});
}

void relay_messages(EventStream events, McpClient& client, mcp::Gate* gate, const Wake& abandoned,
                    const OutputTaps& taps) {
  McpWire wire(client, gate);
  Event line_end;  // which the lines come without
  line_end.kind = Event::Kind::out;
  line_end.data = Bytes(std::string_view("\n"));
  for (const Event& event : events) {
    if (event.kind == Event::Kind::exit) continue;
    if (taps.log != nullptr) taps.log->add(event, abandoned.fd());
    if (event.kind == Event::Kind::err) {
      // As with every complaint: a stderr that cannot be written to is not our problem.
      (void)write_all_until(STDERR_FILENO, event.data.view(), abandoned.fd());
    } else if (event.partial) {
      wire.take_part(event.data.view());
    } else {
      if (taps.log != nullptr) taps.log->add(line_end, abandoned.fd());
      wire.take(event.data.view());
    }
  }
  if (taps.log != nullptr) taps.log->finish();
  wire.finish();
}

}  // namespace cordon::app
