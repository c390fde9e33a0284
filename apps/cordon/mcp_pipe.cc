#include "mcp_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/short_wait.h"
#include "mcp_wire.h"

namespace cordon::app {
namespace {

constexpr std::size_t kUsual = std::size_t{64} * 1024;
constexpr int kGrown = 1024 * 1024;

// What was read and is not yet a whole line.
class Lines {
 public:
  explicit Lines(McpWire& wire) : wire_(wire), buffer_(kUsual) {}

  // Where more is to be put, and how much of it.
  [[nodiscard]] char* room() {
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    return buffer_.data() + end_;
  }
  [[nodiscard]] std::size_t room_size() const { return buffer_.size() - end_; }

  void took(std::size_t size) {
    std::size_t searched = end_;
    end_ += size;
    std::size_t begin = 0;
    while (const void* const at = std::memchr(buffer_.data() + searched, '\n', end_ - searched)) {
      const auto stop = static_cast<std::size_t>(static_cast<const char*>(at) - buffer_.data());
      wire_.take(line(begin, stop));
      searched = begin = stop + 1;
    }
    keep(begin);
  }

  // The last line may have no end.
  void finish() {
    if (end_ > 0) wire_.take(line(0, end_));
    end_ = 0;
  }

 private:
  [[nodiscard]] std::string_view line(std::size_t begin, std::size_t end) const {
    std::string_view text(buffer_.data() + begin, end - begin);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

  void keep(std::size_t begin) {
    end_ -= begin;
    if (end_ > 0 && begin > 0) std::memmove(buffer_.data(), buffer_.data() + begin, end_);
    if (end_ > kLongestMessage) {
      wire_.take_part({buffer_.data(), end_});
      end_ = 0;
    }
    if (end_ == 0 && buffer_.size() > kUsual) std::vector<char>(kUsual).swap(buffer_);
  }

  McpWire& wire_;
  std::vector<char> buffer_;
  std::size_t end_ = 0;
};

// Or has ended. Waits for that at most so many milliseconds, or with -1 until it has.
bool has_something(int fd, int wait) {
  pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, wait) != 0;
}

}  // namespace

Result<McpPipe> McpPipe::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return base::fail_os("stdio", errno, "making a pipe for the server's stdout");
  }
  McpPipe pipe;
  pipe.ours_ = base::Fd(ends[0]);
  pipe.theirs_ = base::Fd(ends[1]);
  return pipe;
}

std::uint64_t McpPipe::relay(McpClient& client, mcp::Gate* gate) const {
  McpWire wire(client, gate);
  Lines lines(wire);
  std::uint64_t bytes = 0;
  bool grown = false;
  base::ShortWait wait;
  for (;;) {
    char* const room = lines.room();
    wait.wait([this] { return has_something(ours_.get(), 0); },
              [this] { (void)has_something(ours_.get(), -1); });
    const ssize_t got = ::read(ours_.get(), room, lines.room_size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    bytes += size;
    // Whoever writes much at once need not wait for us so often. It may be refused.
    if (size >= kUsual && !std::exchange(grown, true)) {
      (void)::fcntl(ours_.get(), F_SETPIPE_SZ, kGrown);
    }
    lines.took(size);
  }
  lines.finish();
  wire.finish();
  return bytes;
}

}  // namespace cordon::app
