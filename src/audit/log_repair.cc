// The part of Log that deals with what a dead writer left.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "audit/log.h"
#include "audit/log_files.h"
#include "audit/tail.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

// Behind the head there are at most a few records that a dead writer left.
constexpr std::uint64_t kLongestTail = std::uint64_t{256} * 1024 * 1024;

}  // namespace

// Makes the end of the current file and the head agree.
Result<void> Log::settle(Head& head) {
  while (true) {
    if (auto opened = open_current(head); !opened) return opened;
    struct stat info{};
    if (::fstat(current_.get(), &info) != 0) {
      return base::fail_os("audit", errno,
                           "cannot examine " + directory_.path_of(file_name(head.file)));
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size == head.size) return {};
    if (size < head.size || size - head.size > kLongestTail) {
      return tampered(directory_.path_of(file_name(head.file)) + " has " + std::to_string(size) +
                      " bytes and should have " + std::to_string(head.size) +
                      ": records were removed, or written by something else");
    }
    if (auto taken = take_in_tail(head, size); !taken) return taken;
  }
}

Result<void> Log::take_in_tail(Head& head, std::uint64_t size) {
  const std::string name = file_name(head.file);
  const auto bytes =
      read_from(current_.get(), head.size, size - head.size, directory_.path_of(name));
  if (!bytes) return std::unexpected(bytes.error());
  const Tail tail = examine_tail(head, *bytes, sealer_);
  const std::uint64_t end = head.size + tail.accepted;
  const std::string_view torn = std::string_view(*bytes).substr(tail.accepted);
  const std::string kept = "torn-" + std::to_string(head.file) + "-" + std::to_string(end);
  if (!torn.empty()) {
    if (auto done = keep_torn(kept, torn); !done) return done;
    if (::ftruncate(current_.get(), static_cast<off_t>(end)) != 0) {
      return base::fail_os("audit", errno, "cannot repair " + directory_.path_of(name));
    }
  }
  head = tail.head;
  if (auto written = write_head(head); !written || torn.empty()) return written;
  if (auto opened = open_current(head); !opened) return opened;
  const Entry note{.operation = Operation::repaired,
                   .detail = std::to_string(torn.size()) +
                             " bytes of an unfinished record were moved from " + name + " to " +
                             kept};
  return write(head, {&note, 1});
}

// Nothing is lost: half a record may be all that tells of what a dead writer was about.
Result<void> Log::keep_torn(const std::string& name, std::string_view bytes) const {
  const auto file = directory_.open(name, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return std::unexpected(file.error());
  while (!bytes.empty()) {
    const ssize_t put = ::write(file->get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return base::fail_os("audit", errno, "cannot write " + directory_.path_of(name));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return sync(file->get(), name);
}

}  // namespace cordon::audit
