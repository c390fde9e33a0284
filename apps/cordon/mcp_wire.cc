#include "mcp_wire.h"

#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "concat.h"
#include "message.h"

namespace cordon::app {
namespace {

// Of a line that is no message, so much is shown.
constexpr std::size_t kShown = 200;
// A server that writes nothing but noise must not fill its client's log.
constexpr int kMostShown = 100;

}  // namespace

void McpWire::take_part(std::string_view part) {
  if (!std::exchange(in_long_line_, true)) refuse(part, "longer than a message may be");
}

void McpWire::take(std::string_view line) {
  if (std::exchange(in_long_line_, false)) return;  // this was its end
  if (line.empty()) return;
  const auto parsed = mcp::parse(line, message_limits());
  if (!parsed) return refuse(line, parsed.error().message);
  for (const auto& message : parsed->messages) {
    if (!message) return refuse(line, message.error().message);
  }
  if (gate_ == nullptr) return client_.send(line);
  pass(line, *parsed);
}

void McpWire::finish() const {
  if (refused_ > kMostShown) {
    complain(concat(std::to_string(refused_ - kMostShown),
                    " more lines of the server's stdout were no messages"));
  }
}

void McpWire::pass(std::string_view line, const mcp::Parsed& parsed) {
  std::vector<std::string> texts;
  bool same = true;
  for (const auto& message : parsed.messages) {
    auto other = gate_->from_server(*message);
    same = same && !other;
    std::string text = other ? *std::move(other) : (parsed.batch ? message->text() : "");
    if (!text.empty()) texts.push_back(std::move(text));
  }
  if (same) return client_.send(line);
  if (texts.empty()) return;
  client_.send(parsed.batch ? batch_of(texts) : texts.front());
}

void McpWire::refuse(std::string_view line, std::string_view why) {
  if (++refused_ > kMostShown) return;
  complain(concat("not a message, so the client does not get it (", why,
                  "): ", base::printable(line.substr(0, kShown)), line.size() > kShown ? "…" : ""));
}

}  // namespace cordon::app
