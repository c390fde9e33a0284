#include "image/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "workdir/beneath.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr std::size_t kPart = std::size_t{256} * 1024;

class Layout final : public Blobs {
 public:
  explicit Layout(base::Fd directory) : directory_(std::move(directory)) {}

  [[nodiscard]] Result<Region> open(const std::string& name) const override {
    Region region;
    region.own =
        workdir::open_beneath(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat found{};
    if (!region.own || ::fstat(region.own.get(), &found) != 0) {
      return base::fail_os(kStage, errno, "opening " + name + " of the image");
    }
    if (!S_ISREG(found.st_mode)) {
      return base::fail(ErrorCode::invalid_argument, kStage, name + " of the image is no file");
    }
    region.file = region.own.get();
    region.size = static_cast<std::uint64_t>(found.st_size);
    return region;
  }

 private:
  base::Fd directory_;
};

}  // namespace

Result<std::unique_ptr<Blobs>> open_blobs(const std::string& path) {
  base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) {
    return base::fail_os(kStage, errno, "opening the image " + base::printable(path));
  }
  if (S_ISDIR(found.st_mode)) return std::make_unique<Layout>(std::move(file));
  if (S_ISREG(found.st_mode)) return index_archive(std::move(file), path);
  return base::fail(ErrorCode::invalid_argument, kStage,
                    base::printable(path) +
                        " is no image: name the directory of an OCI layout, or an archive of one");
}

Result<void> read_parts(const Region& region, const std::string& name,
                        const std::function<Result<void>(std::string_view)>& sink) {
  std::vector<char> buffer(kPart);
  for (std::uint64_t done = 0; done < region.size;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(buffer.size(), region.size - done);
    const ssize_t got = ::pread(region.file, buffer.data(), static_cast<std::size_t>(wanted),
                                static_cast<off_t>(region.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_os(kStage, errno, "reading " + name + " of the image");
    if (got == 0) {
      return base::fail(ErrorCode::invalid_argument, kStage,
                        name + " of the image ends early: get the image again");
    }
    done += static_cast<std::uint64_t>(got);
    auto taken = sink(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    if (!taken) return taken;
  }
  return {};
}

Result<std::string> read_whole(const Region& region, const std::string& name, std::uint64_t most) {
  if (region.size > most) {
    return base::fail(ErrorCode::resource_exhausted, kStage,
                      name + " of the image is larger than " + std::to_string(most) + " bytes");
  }
  std::string text;
  auto read = read_parts(region, name, [&](std::string_view part) -> Result<void> {
    text += part;
    return {};
  });
  if (!read) return std::unexpected(std::move(read.error()));
  return text;
}

}  // namespace cordon::image
