// Writing a container's image: all of it, or none.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <utility>

#include "backend/gvisor/gvisor_container.h"
#include "backend/gvisor/image_files.h"
#include "backend/gvisor/image_follower.h"
#include "base/errors.h"
#include "base/fd.h"

namespace cordon::gvisor_backend {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kStage = "checkpoint";
constexpr Duration kLongest = 10min;
constexpr mode_t kPrivate = 0700;
const std::string kImage = "checkpoint.img";  // runsc's name for it

// A directory beside the one that is asked for, in which the image is made.
class Draft {
 public:
  ~Draft() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Draft() = default;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  [[nodiscard]] Result<void> make(const fs::path& image, const std::string& id) {
    std::error_code failed;
    const auto kind = fs::symlink_status(image, failed).type();
    if (kind != fs::file_type::not_found &&
        (kind != fs::file_type::directory || !fs::is_empty(image, failed))) {
      return base::fail(ErrorCode::invalid_argument, kStage,
                        image.string() +
                            " is not an empty directory: name one that does not "
                            "exist yet");
    }
    const fs::path above = image.parent_path();
    const std::string path =
        (above.empty() ? fs::path(".") : above) / ("." + image.filename().string() + "." + id);
    if (::mkdir(path.c_str(), kPrivate) != 0) {
      return base::fail_os(kStage, errno, "making a directory beside " + image.string());
    }
    path_ = path;
    return {};
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] Result<void> become(const fs::path& image) {
    if (::rename(path_.c_str(), image.c_str()) != 0) {
      return base::fail_os(kStage, errno, "giving the image its name " + image.string());
    }
    path_.clear();
    const fs::path above = image.parent_path();
    const base::Fd directory(
        ::open(above.empty() ? "." : above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory) (void)::fsync(directory.get());
    return {};
  }

 private:
  std::string path_;
};

// runsc ends a sandbox whose image it cannot write, so it must not come to that: whether there is
// room is found out before, by taking it. The image is compressed, and so smaller than what the
// sandbox has in memory.
Result<void> check_room(const std::string& directory, std::uint64_t bytes) {
  const std::string path = directory + "/room";
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return base::fail_os(kStage, errno, "making a file in " + directory);
  const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  (void)::unlink(path.c_str());
  if (error == 0) return {};
  return base::fail_os(kStage, error,
                       "taking " + std::to_string(bytes >> 20) +
                           " MiB for the image, which is what it may need (the sandbox goes on)");
}

std::uint64_t room_for(const Sandbox& sandbox) {
  constexpr std::uint64_t kMore = std::uint64_t{8} << 20;
  constexpr std::uint64_t kUnknown = std::uint64_t{64} << 20;
  const auto used = sandbox.group() != nullptr ? sandbox.group()->memory_bytes() : std::nullopt;
  return used.value_or(kUnknown) + kMore;
}

std::uint64_t size_of(const std::string& directory) {
  struct stat info{};
  if (::stat((directory + "/" + kImage).c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

Result<void> GvisorContainer::checkpoint(const supervise::CheckpointAsk& ask) {
  if (std::string why = inside_->sandbox->runsc().no_checkpoint(); !why.empty()) {
    return base::fail(ErrorCode::unsupported, kStage, std::move(why));
  }
  if (ask.leave_running) {
    return base::fail(ErrorCode::unsupported, kStage,
                      "runsc " + manifest_.runsc +
                          " ends a sandbox when it writes its image, so it cannot be left running: "
                          "leave that out, and restore the sandbox from the image");
  }
  const std::unique_lock alone(inside_->gate);
  if (!inside_->sandbox->running()) {
    return base::fail(ErrorCode::wrong_state, kStage, "the sandbox has ended");
  }
  Draft draft;
  if (auto made = draft.make(ask.image, inside_->sandbox->id()); !made) return made;
  if (auto room = check_room(draft.path(), room_for(*inside_->sandbox)); !room) return room;
  ImageFollower follower(draft.path(), kImage);
  if (auto written = write_image(draft.path(), ask); !written) return written;
  inside_->sandbox->kill();  // it is about to end by itself, but takes its time
  auto sealed = seal_image(draft.path(), manifest_, follower.finish());
  (void)main_->wait_for(30s);
  if (sealed) sealed = draft.become(ask.image);
  if (!sealed) {
    const std::lock_guard lock(mutex_);
    broken_ = "its image could not be kept: " + sealed.error().message;
  }
  return sealed;
}

Result<void> GvisorContainer::write_image(const std::string& directory,
                                          const supervise::CheckpointAsk& ask) {
  Sandbox& sandbox = *inside_->sandbox;
  sandbox.begin_checkpoint();
  const auto tick = [&] {
    if (ask.progress) ask.progress(size_of(directory));
  };
  auto done = sandbox.command({"checkpoint", "-image-path=" + directory}, kLongest, {}, tick);
  if (done && done->exit_code == 0) {
    if (ask.progress) ask.progress(size_of(directory));
    return {};
  }
  Error error = done ? base::fail(ErrorCode::system, kStage,
                                  "runsc could not write the image: " + last_error({}, done->err))
                           .error()
                     : done.error();
  // It has ended, too, or is about to: then it was no checkpoint.
  if (!main_->wait_for(1s)) {
    sandbox.fail_checkpoint();
    return std::unexpected(std::move(error));
  }
  const std::lock_guard lock(mutex_);
  broken_ = "runsc ended it when its image could not be written: " + error.message;
  error.message = broken_;
  return std::unexpected(std::move(error));
}

}  // namespace cordon::gvisor_backend
