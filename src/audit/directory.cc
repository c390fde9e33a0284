#include "audit/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "audit/safe_path.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

constexpr std::string_view kPrefix = "audit-";
constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDigits = 8;

}  // namespace

std::string file_name(std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return std::string(kPrefix).append(digits).append(kSuffix);
}

std::optional<std::uint64_t> file_number(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  if (name.size() <= kPrefix.size() + kSuffix.size()) return std::nullopt;
  const std::string_view digits =
      name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (number == 0 || file_name(number) != name) return std::nullopt;
  return number;
}

Result<Directory> Directory::to_write(const std::string& path) {
  auto fd = open_safe_directory(path);
  if (!fd) return std::unexpected(std::move(fd).error());
  return Directory(path, *std::move(fd));
}

Result<Directory> Directory::to_read(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return base::fail_os("audit", errno, "cannot open the audit log " + path);
  return Directory(path, std::move(fd));
}

std::string Directory::path_of(std::string_view name) const {
  return std::string(path_).append("/").append(name);
}

Result<base::Fd> Directory::open(const std::string& name, int flags) const {
  // Not blocked by a pipe of that name.
  base::Fd file(::openat(fd_.get(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                         S_IRUSR | S_IWUSR));
  if (!file && errno == ELOOP) {
    return base::fail(ErrorCode::not_permitted, "audit",
                      path_of(name) + " is a link; a log has none: remove it");
  }
  if (!file) return base::fail_os("audit", errno, "cannot open " + path_of(name));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    return base::fail_os("audit", errno, "cannot examine " + path_of(name));
  }
  if (!S_ISREG(info.st_mode)) {
    return base::fail(ErrorCode::not_permitted, "audit",
                      path_of(name) + " is not a regular file; a log has no others: remove it");
  }
  return file;
}

Result<Directory::Listing> Directory::list() const {
  base::Fd again(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(again ? ::fdopendir(again.get()) : nullptr,
                                                   ::closedir);
  if (!stream) return base::fail_os("audit", errno, "cannot list the audit log " + path_);
  (void)again.release();  // the stream's now
  Listing listing;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* const entry = ::readdir(stream.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (const auto number = file_number(name)) {
      listing.files.push_back(*number);
    } else if (name.starts_with(kPrefix)) {
      listing.strange.emplace_back(name);
    }
  }
  std::ranges::sort(listing.files);
  std::ranges::sort(listing.strange);
  return listing;
}

}  // namespace cordon::audit
