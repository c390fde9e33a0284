#include "sandbox_pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/fd.h"
#include "concat.h"
#include "image/tar.h"
#include "workdir/beneath.h"
#include "workdir/directory_reader.h"

namespace cordon::app::sandbox {

using image::tar_end;
using image::tar_header;
using image::tar_padding;
using image::TarEntry;
namespace {

constexpr const char* kStage = "cp";

class Packer {
 public:
  Packer(int top, std::string path, const std::function<Result<void>(std::string_view)>& write,
         std::uint64_t& skipped)
      : top_(top), path_(std::move(path)), write_(write), skipped_(skipped) {}

  // `below` is the place below the top directory, `name` what it is called in the archive.
  [[nodiscard]] Result<void> add(const std::string& below, const std::string& name) {
    pending_.push_back({below, name});
    while (!pending_.empty()) {
      const auto [at, called] = std::move(pending_.back());
      pending_.pop_back();
      if (auto added = add_one(at, called); !added) return added;
    }
    return write_(tar_end());
  }

 private:
  struct Place {
    std::string below;
    std::string name;
  };

  [[nodiscard]] std::unexpected<Error> cannot(int error, const std::string& below) const {
    return base::fail_os(kStage, error, concat("reading ", path_, "/", below));
  }

  [[nodiscard]] Result<void> add_one(const std::string& below, const std::string& name) {
    const base::Fd what =
        workdir::open_beneath(top_, below.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat found{};
    if (!what || ::fstat(what.get(), &found) != 0) return cannot(errno, below);
    TarEntry entry{.path = name,
                   .mode = found.st_mode & 0777U,
                   .time = static_cast<std::uint64_t>(std::max<time_t>(0, found.st_mtime))};
    if (S_ISLNK(found.st_mode)) {
      std::array<char, PATH_MAX> target{};
      const ssize_t size = ::readlinkat(what.get(), "", target.data(), target.size());
      if (size < 0) return cannot(errno, below);
      entry.type = TarEntry::Type::link;
      entry.target.assign(target.data(), static_cast<std::size_t>(size));
      return write_(tar_header(entry));
    }
    if (S_ISDIR(found.st_mode)) return add_directory(below, std::move(entry));
    if (S_ISREG(found.st_mode)) return add_file(below, std::move(entry));
    ++skipped_;
    return {};
  }

  [[nodiscard]] Result<void> add_directory(const std::string& below, TarEntry entry) {
    entry.type = TarEntry::Type::directory;
    if (auto written = write_(tar_header(entry)); !written) return written;
    const base::Fd directory =
        workdir::open_beneath(top_, below.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!directory) return cannot(errno, below);
    workdir::DirectoryReader reader(directory.get());
    while (const auto next = reader.next()) {
      pending_.push_back({concat(below, "/", next->name), concat(entry.path, "/", next->name)});
    }
    if (reader.error() != 0) return cannot(reader.error(), below);
    return {};
  }

  [[nodiscard]] Result<void> add_file(const std::string& below, TarEntry entry) {
    const base::Fd file =
        workdir::open_beneath(top_, below.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found{};
    if (!file || ::fstat(file.get(), &found) != 0) return cannot(errno, below);
    entry.size = static_cast<std::uint64_t>(found.st_size);
    if (auto written = write_(tar_header(entry)); !written) return written;
    std::array<char, 64 * 1024> buffer;  // NOLINT(*-member-init): filled by the call
    for (std::uint64_t left = entry.size; left > 0;) {
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
      const ssize_t got = ::read(file.get(), buffer.data(), most);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return cannot(errno, below);
      // It has become shorter meanwhile; what was promised is filled up.
      const std::size_t part = got == 0 ? most : static_cast<std::size_t>(got);
      if (got == 0) buffer.fill('\0');
      if (auto written = write_({buffer.data(), part}); !written) return written;
      left -= part;
    }
    return write_(tar_padding(entry.size));
  }

  const int top_;
  const std::string path_;
  const std::function<Result<void>(std::string_view)>& write_;
  std::uint64_t& skipped_;
  std::vector<Place> pending_;
};

}  // namespace

Result<void> pack(const std::string& path, const std::string& name,
                  const std::function<Result<void>(std::string_view)>& write,
                  std::uint64_t& skipped) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
  const base::Fd top(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top) return base::fail_os(kStage, errno, concat("opening ", parent));
  return Packer(top.get(), parent, write, skipped).add(path.substr(slash + 1), name);
}

}  // namespace cordon::app::sandbox
