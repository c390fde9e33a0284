#include "backend/gvisor/file_relay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

constexpr const char* kStage = "output";

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t size = ::write(fd, data.data(), data.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    data.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void copy(const base::Fd& from, const base::Fd& to) {
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    const ssize_t size = ::read(from.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    // A full disk: closing the pipe tells the program.
    if (!write_all(to.get(), {buffer.data(), static_cast<std::size_t>(size)})) return;
  }
}

}  // namespace

Result<int> FileRelay::open(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return base::fail_os(kStage, errno, "looking at the output");
  if (!S_ISREG(info.st_mode)) return fd;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_os(kStage, errno, "making a pipe");
  base::Fd reader(ends[0]);
  writer_.reset(ends[1]);
  base::Fd target(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!target) return base::fail_os(kStage, errno, "taking the output");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // not for the application's handlers
  Result<int> opened = writer_.get();
  try {
    thread_ = std::thread([from = std::move(reader), to = std::move(target)] { copy(from, to); });
  } catch (const std::system_error& error) {
    opened = base::fail_os(kStage, error.code().value(), "starting a thread for the output");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return opened;
}

void FileRelay::finish() {
  writer_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cordon::gvisor_backend
