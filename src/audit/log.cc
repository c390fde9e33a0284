#include "audit/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "audit/file_lock.h"
#include "audit/log_files.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

constexpr std::uint64_t kSmallestFile = 4096;
}  // namespace

Log::Log(const Settings& settings, Clock& clock, Directory directory, Sealer sealer)
    : directory_(std::move(directory)),
      sealer_(std::move(sealer)),
      clock_(clock),
      durable_(settings.durable),
      max_file_size_(settings.max_file_size),
      writer_{.uid = ::getuid(), .pid = ::getpid()} {}

Result<std::unique_ptr<Log>> Log::open(const Settings& settings, Clock& clock) {
  if (settings.max_file_size < kSmallestFile) {
    return base::fail(ErrorCode::invalid_argument, "audit",
                      "files of the audit log cannot be smaller than 4096 bytes");
  }
  auto sealer = Sealer::from_file(settings.key_file);
  if (!sealer) return std::unexpected(std::move(sealer).error());
  auto directory = Directory::to_write(settings.directory);
  if (!directory) return std::unexpected(std::move(directory).error());
  std::unique_ptr<Log> log(new Log(settings, clock, *std::move(directory), *std::move(sealer)));
  auto lock = log->directory_.open(kLockFile, O_RDWR | O_CREAT);
  if (!lock) return std::unexpected(std::move(lock).error());
  log->lock_ = *std::move(lock);
  if (auto opened = log->open_head(); !opened) return std::unexpected(std::move(opened).error());
  return log;
}

Result<void> Log::open_head() {
  auto head = directory_.open(kHeadFile, O_RDWR);
  if (!head && head.error().os_error == ENOENT) return begin();
  if (!head) return std::unexpected(std::move(head).error());
  struct stat info{};
  if (::fstat(head->get(), &info) == 0 && info.st_size == 0) return begin();
  head_ = *std::move(head);
  return {};
}

// No head: a new log, unless somebody else has just begun it, or its head was taken away.
Result<void> Log::begin() {
  const FileLock lock(lock_.get(), LOCK_EX);
  if (lock.error() != 0) return base::fail_os("audit", lock.error(), "cannot lock the audit log");
  const auto listing = directory_.list();
  if (!listing) return std::unexpected(listing.error());
  auto head = directory_.open(kHeadFile, O_RDWR);
  if (!head) {
    if (!listing->files.empty()) {
      return tampered("the audit log in " + directory_.path() + " has records, but no head");
    }
    head = directory_.open(kHeadFile, O_RDWR | O_CREAT);
    if (!head) return std::unexpected(std::move(head).error());
  }
  head_ = *std::move(head);
  struct stat info{};
  if (::fstat(head_.get(), &info) != 0) {
    return base::fail_os("audit", errno, "cannot examine " + directory_.path_of(kHeadFile));
  }
  // Empty and no records: who began it died, just now or long ago.
  if (info.st_size > 0 || !listing->files.empty()) return {};
  if (auto written = write_head({.keyed = sealer_.keyed()}); !written) {
    (void)::ftruncate(head_.get(), 0);  // not begun yet
    return written;
  }
  return sync(directory_.fd(), ".");
}

Result<Head> Log::read_head() const {
  const auto line = read_from(head_.get(), 0, head_length(), directory_.path_of(kHeadFile));
  if (!line) return std::unexpected(line.error());
  const auto head = parse_head(*line);
  if (!head) {
    return tampered("the head of the audit log in " + directory_.path() + " is damaged");
  }
  if (head->keyed != sealer_.keyed()) {
    return base::fail(ErrorCode::invalid_argument, "audit",
                      "the audit log in " + directory_.path() +
                          (head->keyed ? " is sealed with a key, and none was given"
                                       : " was begun without a key; begin a new one to use one"));
  }
  return *head;
}

Result<void> Log::open_current(const Head& head) {
  if (current_ && current_number_ == head.file) return {};
  const int make = head.size == 0 ? O_CREAT : 0;
  auto file = directory_.open(file_name(head.file), O_RDWR | O_APPEND | make);
  if (!file) return std::unexpected(std::move(file).error());
  current_ = *std::move(file);
  current_number_ = head.file;
  if (make != 0) return sync(directory_.fd(), ".");
  return {};
}

Result<void> Log::write(Head& head, std::span<const Entry> entries) {
  Head next = head;
  std::string text;
  for (const Entry& entry : entries) {
    text += record_line(entry, writer_, next.sequence + 1, clock_.wall_now(), sealer_, next.hash,
                        next.hash);
    ++next.sequence;
  }
  next.size += text.size();
  const std::string name = file_name(head.file);
  // One call: of a writer that dies, either all is there, or a part that ends in no whole line.
  const ssize_t put = ::write(current_.get(), text.data(), text.size());
  const int why = put < 0 ? errno : ENOSPC;
  Result<void> done;
  if (put != static_cast<ssize_t>(text.size())) {
    done = base::fail_os("audit", why, "cannot write to the audit log " + directory_.path_of(name));
  } else {
    done = sync(current_.get(), name);
    if (entries.back().operation == Operation::rotated) {
      ++next.file;
      next.size = 0;
    }
    if (done) done = write_head(next);
  }
  if (!done) {
    // Unless the old head is back the records stay: it may know of them already.
    if (put_head(head)) (void)::ftruncate(current_.get(), static_cast<off_t>(head.size));
    return done;
  }
  head = next;
  return {};
}

bool Log::put_head(const Head& head) const {
  const std::string line = head_line(head);
  const ssize_t put = ::pwrite(head_.get(), line.data(), line.size(), 0);
  if (put >= 0 && put != static_cast<ssize_t>(line.size())) errno = ENOSPC;
  return put == static_cast<ssize_t>(line.size());
}

Result<void> Log::write_head(const Head& head) const {
  if (!put_head(head)) {
    return base::fail_os("audit", errno, "cannot write " + directory_.path_of(kHeadFile));
  }
  return sync(head_.get(), kHeadFile);
}

Result<void> Log::sync(int fd, const std::string& name) const {
  if (!durable_ || ::fdatasync(fd) == 0) return {};
  return base::fail_os("audit", errno, "cannot get to the disk " + directory_.path_of(name));
}

Result<std::uint64_t> Log::append(std::span<const Entry> entries) {
  const std::scoped_lock guard(mutex_);
  const FileLock lock(lock_.get(), LOCK_EX);
  if (lock.error() != 0) return base::fail_os("audit", lock.error(), "cannot lock the audit log");
  auto head = read_head();
  if (!head) return std::unexpected(std::move(head).error());
  if (auto settled = settle(*head); !settled) return std::unexpected(std::move(settled).error());
  if (head->size >= max_file_size_) {
    const Entry note{.operation = Operation::rotated,
                     .detail = "the log goes on in " + file_name(head->file + 1)};
    if (auto done = write(*head, {&note, 1}); !done) return std::unexpected(done.error());
    if (auto settled = settle(*head); !settled) return std::unexpected(settled.error());
  }
  if (entries.empty()) return head->sequence;
  if (auto done = write(*head, entries); !done) return std::unexpected(std::move(done).error());
  return head->sequence;
}

}  // namespace cordon::audit
