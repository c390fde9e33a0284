#include "mcp_input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

namespace cordon::app {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{64} * 1024;
constexpr std::size_t kMostPending = std::size_t{1} << 20;
// How long one attempt to hand on may take: the end of this object has to be seen although the
// server does not read.
constexpr Duration kPatience = std::chrono::milliseconds(50);

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

McpInput::McpInput(Process& process, McpClient& client, mcp::Gate& gate, Wake stop)
    : process_(process), client_(client), gate_(gate), stop_(std::move(stop)), thread_([this] {
        relay();
      }) {}

McpInput::~McpInput() {
  stop_.set();
  thread_.join();
}

void McpInput::relay() {
  bool more = true;
  while (more || !pending_.empty()) {
    std::array<pollfd, 2> waiting = {{{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                                      {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
    if (!more || pending_.size() >= kMostPending) waiting[1].fd = -1;
    const int ready = ::poll(waiting.data(), waiting.size(), pending_.empty() ? -1 : 0);
    if (ready < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0) return;
    if (waiting[1].revents != 0) more = read_some();
    if (!pending_.empty() && !write_some()) return;
  }
  (void)process_.close_stdin();
}

bool McpInput::read_some() {
  const std::size_t had = read_.size();
  ssize_t got = 0;
  int error = 0;
  // Into the string itself, whose end nobody needs to fill with zeros before.
  read_.resize_and_overwrite(had + kReadAtOnce, [&](char* text, std::size_t) {
    got = ::read(STDIN_FILENO, text + had, kReadAtOnce);
    error = got < 0 ? errno : 0;
    return had + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  });
  if (got < 0 && (error == EINTR || error == EAGAIN)) return true;
  if (got > 0) {
    take_lines();
    return true;
  }
  // The last line may have no end.
  if (!in_long_line_) take(std::exchange(read_, {}), "");
  return false;
}

void McpInput::take_lines() {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = read_.find('\n', std::max(begin, searched_));
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(read_).substr(begin, end - begin);
    if (!std::exchange(in_long_line_, false)) take(line, "\n");
    begin = end + 1;
  }
  read_.erase(0, begin);
  searched_ = read_.size();
  if (read_.size() <= kLongestMessage) return;
  if (!in_long_line_) {
    client_.send(mcp::make_error({mcp::kParseError, "a message of more than 16 MiB", {}}));
  }
  in_long_line_ = true;
  std::string().swap(read_);
  searched_ = 0;
}

void McpInput::take(std::string_view line, std::string_view line_end) {
  if (blank(line)) return;
  // What cannot be read here the server might read in some way of its own.
  const auto parsed = mcp::parse(line, message_limits());
  if (!parsed) return client_.send(mcp::make_error(parsed.error()));
  std::vector<std::string> answers;
  std::vector<std::string_view> passing;
  for (const auto& message : parsed->messages) {
    if (!message) {
      answers.push_back(mcp::make_error(message.error()));
    } else if (auto refused = gate_.from_client(*message); !refused) {
      passing.emplace_back(message->text());
    } else if (!refused->empty()) {
      answers.push_back(*std::move(refused));
    }
  }
  if (passing.size() == parsed->messages.size()) {
    pending_.append(line).append(line_end);
  } else if (!passing.empty()) {  // of several at once
    pending_.append(batch_of(passing)).append(line_end);
  }
  if (answers.empty()) return;
  client_.send(parsed->batch ? batch_of(answers) : answers.front());
}

bool McpInput::write_some() {
  const auto written = process_.write_stdin(pending_, kPatience);
  if (!written) return false;  // the server does not want any more, or is gone
  pending_.erase(0, *written);
  return true;
}

}  // namespace cordon::app
