#include "service_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "concat.h"

namespace cordon::app::service {
namespace {

constexpr std::uint32_t kMagic = 0x6e647263;  // "crdn"

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t protocol = 0;
  std::uint16_t kind = 0;
  std::uint32_t bytes = 0;
  std::uint32_t descriptors = 0;
};

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> space{};
};

std::unexpected<Error> gone(const char* stage) {
  return base::fail(ErrorCode::closed, stage, "the other side has closed the connection");
}

std::unexpected<Error> not_a_message(const char* stage, std::string why) {
  return base::fail(ErrorCode::invalid_argument, stage, "this is no message: " + std::move(why));
}

// Waits for `events`. False: the time is over.
bool await(int fd, short events, TimePoint until) {
  while (true) {
    const Duration left = std::max(Duration{0}, until - real_clock().now());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec patience{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = ::ppoll(&waiting, 1, &patience, nullptr);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the call that follows says what is wrong
  }
}

TimePoint after(Duration patience) {
  const TimePoint now = real_clock().now();
  return patience < TimePoint::max() - now ? now + patience : TimePoint::max();
}

void attach(msghdr& message, Control& control, std::span<const int> descriptors) {
  if (descriptors.empty()) return;
  message.msg_control = control.space.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
}

void detach(msghdr& message, std::vector<base::Fd>& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

RawChannel::RawChannel(base::Fd socket, const Dialect& dialect)
    : dialect_(&dialect), socket_(std::move(socket)) {}

Result<void> RawChannel::send(std::uint16_t kind, std::string_view bytes,
                              std::span<const int> descriptors, Duration patience) {
  if (bytes.size() > kMostBytes || descriptors.size() > kMostDescriptors) {
    return base::fail(ErrorCode::invalid_argument, dialect_->name,
                      "a message of " + std::to_string(bytes.size()) +
                          concat(" bytes is too large for a ", dialect_->name, ": at most ") +
                          std::to_string(kMostBytes));
  }
  const Header header{.protocol = dialect_->protocol,
                      .kind = kind,
                      .bytes = static_cast<std::uint32_t>(bytes.size()),
                      .descriptors = static_cast<std::uint32_t>(descriptors.size())};
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all += bytes;
  const TimePoint until = after(patience);
  for (std::size_t sent = 0; sent < all.size();) {
    iovec part{.iov_base = all.data() + sent, .iov_len = all.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    Control control;
    if (sent == 0) attach(message, control, descriptors);
    const ssize_t n = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!await(socket_.get(), POLLOUT, until)) {
        return base::fail(ErrorCode::timed_out, dialect_->name, "the other side does not read");
      }
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return gone(dialect_->name);
    } else if (errno != EINTR) {
      return base::fail_os(dialect_->name, errno, "sending a message");
    }
  }
  return {};
}

// What is there now. Error: timed_out, when that is nothing.
Result<void> RawChannel::read_some() {
  std::array<char, 64 * 1024> buffer;  // NOLINT(*-member-init): filled by the call
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.space.data();
  message.msg_controllen = control.space.size();
  const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
    return base::fail(ErrorCode::timed_out, dialect_->name, "the other side has said nothing");
  }
  if (n < 0 && errno != ECONNRESET)
    return base::fail_os(dialect_->name, errno, "receiving a message");
  if (n <= 0) return gone(dialect_->name);
  detach(message, descriptors_);
  if ((message.msg_flags & MSG_CTRUNC) != 0 || descriptors_.size() > kMostDescriptors) {
    return not_a_message(dialect_->name, "too many descriptors");
  }
  in_.append(buffer.data(), static_cast<std::size_t>(n));
  return {};
}

// The message at the front, once all of it is there.
Result<std::optional<RawMessage>> RawChannel::complete() {
  Header header;
  if (in_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, in_.data(), sizeof header);
  if (header.magic != kMagic) return not_a_message(dialect_->name, "it does not begin like one");
  if (header.protocol != dialect_->protocol) {
    return not_a_message(dialect_->name, "it is of version " + std::to_string(header.protocol) +
                                             ", not " + std::to_string(dialect_->protocol));
  }
  if (header.kind == 0 || header.kind > dialect_->last_kind) {
    return not_a_message(dialect_->name, "nothing is known of kind " + std::to_string(header.kind));
  }
  if (header.bytes > kMostBytes || header.descriptors > kMostDescriptors) {
    return not_a_message(dialect_->name, "it is too large");
  }
  if (in_.size() < sizeof header + header.bytes) return std::nullopt;
  // They come with its first byte, and no message with descriptors is followed by another before it
  // is answered; one without may be followed by one with, in the same read.
  const bool of_the_next = header.descriptors == 0 && in_.size() > sizeof header + header.bytes;
  if (descriptors_.size() != header.descriptors && !of_the_next) {
    return not_a_message(dialect_->name, "it has " + std::to_string(descriptors_.size()) +
                                             " descriptors, not " +
                                             std::to_string(header.descriptors));
  }
  RawMessage message{
      .kind = header.kind, .bytes = in_.substr(sizeof header, header.bytes), .descriptors = {}};
  if (!of_the_next) message.descriptors = std::exchange(descriptors_, {});
  in_.erase(0, sizeof header + header.bytes);
  return message;
}

Result<RawMessage> RawChannel::receive(Duration patience) {
  const TimePoint until = after(patience);
  while (true) {
    auto message = complete();
    if (!message) return std::unexpected(std::move(message.error()));
    if (*message) return **std::move(message);
    auto read = read_some();
    if (read) continue;
    if (read.error().code != ErrorCode::timed_out || patience <= Duration{0}) {
      return std::unexpected(std::move(read.error()));
    }
    if (!await(socket_.get(), POLLIN, until)) return std::unexpected(std::move(read.error()));
  }
}

}  // namespace cordon::app::service
