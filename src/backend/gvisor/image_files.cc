// The files of an image: their sizes and digests, and their way to the disk.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "backend/gvisor/image_manifest.h"
#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "base/sha256.h"

namespace cordon::gvisor_backend {
namespace {

constexpr const char* kStage = "image";
constexpr std::size_t kLongestManifest = std::size_t{1} << 20;

std::unexpected<Error> damaged(const std::string& directory, const std::string& why) {
  return base::fail(ErrorCode::invalid_argument, kStage,
                    directory + " holds no image that can be restored: " + why);
}

std::unexpected<Error> os(const std::string& what, int error) {
  return base::fail_os(kStage, error, what);
}

Result<base::Fd> open_directory(const std::string& path) {
  base::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return os("opening the directory " + path, errno);
  return directory;
}

Result<ImageFile> look_at(int directory, const std::string& name, const std::string& path) {
  const base::Fd file(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const std::string reading = "reading " + path + "/" + name;
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return os(reading, errno);
  if (!S_ISREG(info.st_mode)) return damaged(path, name + " is not a file");
  base::Sha256 digest;
  ImageFile found{.name = name};
  const auto buffer = std::make_unique<std::array<char, 256 * 1024>>();
  for (;;) {
    const ssize_t size = ::read(file.get(), buffer->data(), buffer->size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return os(reading, errno);
    if (size == 0) break;
    digest.add({buffer->data(), static_cast<std::size_t>(size)});
    found.size += static_cast<std::uint64_t>(size);
  }
  found.sha256 = base::to_hex(digest.finish());
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return os("writing " + path + "/" + name + " to the disk", errno);
  }
  return found;
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  const std::unique_ptr<DIR, decltype([](DIR* open) { ::closedir(open); })> directory(
      ::opendir(path.c_str()));
  if (!directory) return os("reading the directory " + path, errno);
  std::vector<std::string> names;
  // Nobody else uses this stream.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = ::readdir(directory.get())) {
    std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Result<std::string> read_manifest(int directory, const std::string& path) {
  const base::Fd file(::openat(directory, std::string(kManifestName).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return damaged(path, "there is no " + std::string(kManifestName));
  if (!file) return os("opening " + path + "/" + std::string(kManifestName), errno);
  std::string text(kLongestManifest, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return os("reading " + path + "/" + std::string(kManifestName), errno);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace

Result<void> seal_image(const std::string& directory, Manifest manifest) {
  auto opened = open_directory(directory);
  if (!opened) return std::unexpected(std::move(opened.error()));
  auto names = names_in(directory);
  if (!names) return std::unexpected(std::move(names.error()));
  manifest.files.clear();
  for (const std::string& name : *names) {
    auto file = look_at(opened->get(), name, directory);
    if (!file) return std::unexpected(std::move(file.error()));
    manifest.files.push_back(*std::move(file));
  }
  const std::string text = to_text(manifest);
  constexpr mode_t kPrivate = 0600;
  const base::Fd file(::openat(opened->get(), std::string(kManifestName).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPrivate));
  const ssize_t size = file ? ::write(file.get(), text.data(), text.size()) : -1;
  if (size != static_cast<ssize_t>(text.size())) {
    return os("writing " + directory + "/" + std::string(kManifestName), size < 0 ? errno : ENOSPC);
  }
  if (::fsync(file.get()) != 0 || ::fsync(opened->get()) != 0) {
    return os("writing " + directory + " to the disk", errno);
  }
  return {};
}

Result<Manifest> open_image(const std::string& directory) {
  auto opened = open_directory(directory);
  if (!opened) return std::unexpected(std::move(opened.error()));
  auto text = read_manifest(opened->get(), directory);
  if (!text) return std::unexpected(std::move(text.error()));
  auto manifest = parse_manifest(*text);
  if (!manifest) {
    return damaged(directory,
                   "of its " + std::string(kManifestName) + ", " + manifest.error().message);
  }
  if (manifest->files.empty()) return damaged(directory, "its manifest lists no file");
  for (const ImageFile& wanted : manifest->files) {
    auto found = look_at(opened->get(), wanted.name, directory);
    if (!found && found.error().os_error == ENOENT) {
      return damaged(directory, base::printable(wanted.name) + " is missing");
    }
    if (!found) return std::unexpected(std::move(found.error()));
    if (found->size != wanted.size) {
      return damaged(directory, base::printable(wanted.name) + " has " +
                                    std::to_string(found->size) + " bytes instead of " +
                                    std::to_string(wanted.size));
    }
    if (found->sha256 != wanted.sha256) {
      return damaged(directory, base::printable(wanted.name) + " was changed after it was written");
    }
  }
  return manifest;
}

}  // namespace cordon::gvisor_backend
