#include "backend/gvisor/image_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "backend/gvisor/image_digest.h"
#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"

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

Result<base::Fd> open_file(int directory, const std::string& name, const std::string& path) {
  base::Fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0) return os("reading " + path + "/" + name, errno);
  if (!S_ISREG(info.st_mode)) return damaged(path, base::printable(name) + " is not a file");
  return file;
}

Result<ImageFile> digest_of(int file, const std::string& name, const std::string& path) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return os("looking at " + path + "/" + name, errno);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  auto digest = digest_whole(file, size);
  if (!digest) return os("reading " + path + "/" + name, errno);
  return ImageFile{.name = name, .size = size, .digest = *std::move(digest)};
}

// Of one that is to be on the disk then.
Result<ImageFile> seal_file(int directory, const std::string& name, const std::string& path,
                            const std::optional<ImageFile>& followed) {
  auto file = open_file(directory, name, path);
  if (!file) return std::unexpected(std::move(file.error()));
  // The disk works while the digest is made.
  (void)::sync_file_range(file->get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  auto sealed = followed && followed->name == name ? Result<ImageFile>(*followed)
                                                   : digest_of(file->get(), name, path);
  if (sealed && ::fsync(file->get()) != 0 && errno != EINVAL) {
    return os("writing " + path + "/" + name + " to the disk", errno);
  }
  return sealed;
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

Result<void> seal_image(const std::string& directory, Manifest manifest,
                        const std::optional<ImageFile>& followed) {
  auto opened = open_directory(directory);
  if (!opened) return std::unexpected(std::move(opened.error()));
  auto names = names_in(directory);
  if (!names) return std::unexpected(std::move(names.error()));
  manifest.files.clear();
  for (const std::string& name : *names) {
    auto file = seal_file(opened->get(), name, directory, followed);
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

Result<OpenImage> OpenImage::open(const std::string& directory) {
  OpenImage image;
  image.directory_ = directory;
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
    auto file = open_file(opened->get(), wanted.name, directory);
    if (!file && file.error().os_error == ENOENT) {
      return damaged(directory, base::printable(wanted.name) + " is missing");
    }
    if (!file) return std::unexpected(std::move(file.error()));
    struct stat info{};
    if (::fstat(file->get(), &info) != 0) return os("looking at " + directory, errno);
    if (static_cast<std::uint64_t>(info.st_size) != wanted.size) {
      return damaged(directory, base::printable(wanted.name) + " has " +
                                    std::to_string(info.st_size) + " bytes instead of " +
                                    std::to_string(wanted.size));
    }
    image.files_.push_back(*std::move(file));
  }
  image.manifest_ = *std::move(manifest);
  return image;
}

Result<void> OpenImage::verify() const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const ImageFile& wanted = manifest_.files[i];
    auto found = digest_of(files_[i].get(), wanted.name, directory_);
    if (!found) return std::unexpected(std::move(found.error()));
    if (*found != wanted) {
      return damaged(directory_,
                     base::printable(wanted.name) + " was changed after it was written");
    }
  }
  return {};
}

Result<void> OpenImage::show(const std::string& at) const {
  constexpr mode_t kPrivate = 0700;
  if (::mkdir(at.c_str(), kPrivate) != 0) return os("making the directory " + at, errno);
  const std::string ours = "/proc/" + std::to_string(::getpid()) + "/fd/";
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string link = at + "/" + manifest_.files[i].name;
    if (::symlink((ours + std::to_string(files_[i].get())).c_str(), link.c_str()) != 0) {
      return os("making the link " + link, errno);
    }
  }
  return {};
}

}  // namespace cordon::gvisor_backend
