#include "backend/gvisor/image_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "backend/gvisor/image_digest.h"
#include "base/fd.h"

namespace cordon::gvisor_backend {
namespace {

using namespace std::chrono_literals;

constexpr auto kPause = 2ms;
constexpr std::uint64_t kStretch = std::uint64_t{8} << 20;  // that is sent to the disk at once

}  // namespace

ImageFollower::ImageFollower(std::string directory, std::string name)
    : directory_(std::move(directory)), name_(std::move(name)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // not for the application's handlers
  try {
    thread_ = std::thread([this] { follow(); });
  } catch (const std::system_error&) {
    written_ = true;  // nobody follows it: whoever wants the digest makes it then
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ImageFollower::~ImageFollower() { (void)finish(); }

std::optional<ImageFile> ImageFollower::finish() {
  {
    const std::lock_guard lock(mutex_);
    written_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  return std::exchange(found_, std::nullopt);
}

bool ImageFollower::pause() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPause, [&] { return written_; });
  return !written_;
}

void ImageFollower::follow() {
  const std::string path = directory_ + "/" + name_;
  constexpr int kHow = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  base::Fd file(::open(path.c_str(), kHow));
  for (bool more = true; !file && more; file = base::Fd(::open(path.c_str(), kHow))) more = pause();
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;

  ImageDigest digest;
  std::uint64_t sent = 0;
  for (bool more = true; more;) {
    more = pause();  // before: what is written until it says no is read below
    do {
      if (digest.read_on(file.get(), kStretch) != 0) return;
      if (digest.size() - sent < kStretch) break;
      (void)::sync_file_range(file.get(), static_cast<off_t>(sent),
                              static_cast<off_t>(digest.size() - sent), SYNC_FILE_RANGE_WRITE);
      sent = digest.size();
    } while (true);
  }
  if (::fstat(file.get(), &info) != 0 ||
      digest.size() != static_cast<std::uint64_t>(info.st_size)) {
    return;
  }
  // One that is shorter than two blocks is digested again.
  if (!digest.begins_as_before(file.get())) return;
  const std::uint64_t size = digest.size();
  found_ = ImageFile{.name = name_, .size = size, .digest = digest.finish()};
}

}  // namespace cordon::gvisor_backend
