#include "workdir/collect.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "workdir/beneath.h"
#include "workdir/directory_reader.h"
#include "workdir/glob.h"

namespace cordon::workdir {
namespace {

constexpr const char* kStage = "collect";
// Names looked at altogether: a program must not be able to keep us busy for hours.
constexpr std::uint64_t kMostEntries = 1'000'000;

constexpr std::size_t kMostQueued = std::size_t{64} * 1024 * 1024;

using Path = std::vector<std::string>;

std::string joined(const Path& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : "/") + name;
  return text;
}

Path split(const std::string& text) {
  Path path;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    path.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return path;
}

// Why a file is not taken because of what it is; empty: it may be.
std::string objection(const struct stat& found) {
  switch (found.st_mode & S_IFMT) {
    case S_IFREG:
      break;
    case S_IFDIR:
      return "it is a directory";
    case S_IFLNK:
      return "it is a symbolic link";
    case S_IFIFO:
      return "it is a pipe";
    case S_IFSOCK:
      return "it is a socket";
    default:
      return "it is a device";
  }
  if (found.st_nlink > 1) return "it has several names (hard links)";
  return {};
}

class Collector {
 public:
  Collector(int top, const OutputDirectory& into, const CollectOptions& options,
            std::vector<Glob> globs)
      : top_(top),
        into_(into),
        options_(options),
        globs_(std::move(globs)),
        matched_(globs_.size(), false) {}

  Collected collect() {
    look_into({});
    while (!directories_.empty() && !full_) {
      const Path path = split(directories_.front());
      queued_ -= directories_.front().size();
      directories_.pop_front();
      look_into(path);
    }
    for (std::size_t i = 0; i < globs_.size(); ++i) {
      if (!matched_[i]) result_.unmatched.push_back(options_.globs[i]);
    }
    std::ranges::sort(result_.files);
    return std::move(result_);
  }

 private:
  // Each directory is opened anew from the top: as many levels as a path may have, no descriptor
  // for any of them.
  void look_into(const Path& path) {
    const std::string name = path.empty() ? "." : joined(path);
    const base::Fd directory = open_beneath(top_, name.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory) return refuse(path, base::errno_text(errno));
    DirectoryReader reader(directory.get());
    Path below = path;
    while (const auto entry = reader.next()) {
      if (full_) return;
      if (++entries_ > kMostEntries) {
        return stop(path, "there are more than 1000000 names in the work directory");
      }
      below.emplace_back(entry->name);
      consider(directory.get(), below, entry->is_directory);
      below.pop_back();
    }
    if (reader.error() != 0) refuse(path, base::errno_text(reader.error()));
  }

  void consider(int directory, const Path& path, bool is_directory) {
    bool wanted = false;
    for (std::size_t i = 0; i < globs_.size(); ++i) {
      if (!globs_[i].matches(path)) continue;
      wanted = true;
      if (!is_directory) matched_[i] = true;
    }
    const bool deeper =
        std::ranges::any_of(globs_, [&](const Glob& glob) { return glob.leads_into(path); });
    if (!is_directory && !wanted && !deeper) return;

    // Looked at without opening it: opening a device may do something.
    struct stat found{};
    const base::Fd file = open_beneath(directory, path.back().c_str(), O_PATH | O_NOFOLLOW);
    if (!file || ::fstat(file.get(), &found) != 0) {
      if (wanted) refuse(path, base::errno_text(errno));
      return;
    }
    if (S_ISDIR(found.st_mode)) {
      if (deeper) queue(path);
      return;
    }
    if (wanted) take(directory, path, found);
  }

  void take(int directory, const Path& path, const struct stat& seen) {
    if (auto why = objection(seen); !why.empty()) return refuse(path, std::move(why));
    const base::Fd file =
        open_beneath(directory, path.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat found{};
    if (!file || ::fstat(file.get(), &found) != 0) return refuse(path, base::errno_text(errno));
    // By now the name may be another file's: what counts is what is open.
    if (auto why = objection(found); !why.empty()) return refuse(path, std::move(why));

    const auto size = static_cast<std::uint64_t>(found.st_size);
    if (result_.files.size() >= options_.max_files) {
      return stop(path, "more than " + std::to_string(options_.max_files) + " files match");
    }
    if (size > options_.max_bytes - result_.bytes) {
      return refuse(path, "with it there would be more than " + std::to_string(options_.max_bytes) +
                              " bytes: raise the bound by --collect-limit SIZE");
    }
    if (auto added = into_.add(path, file.get(), size); !added) {
      result_.failed.push_back({joined(path), std::move(added.error().message)});
      full_ = full_ || result_.failed.size() >= options_.max_files;
      return;
    }
    result_.bytes += size;
    result_.files.push_back(joined(path));
  }

  void queue(const Path& path) {
    std::string name = joined(path);
    if (name.size() >= PATH_MAX) return refuse(path, base::errno_text(ENAMETOOLONG));
    queued_ += name.size();
    if (queued_ > kMostQueued) return stop(path, "there are too many directories");
    directories_.push_back(std::move(name));
  }

  void refuse(const Path& path, std::string why) {
    result_.refused.push_back({path.empty() ? "." : joined(path), std::move(why)});
    full_ = full_ || result_.refused.size() >= options_.max_files;
  }
  void stop(const Path& path, std::string why) {
    refuse(path, std::move(why));
    full_ = true;
  }

  const int top_;
  const OutputDirectory& into_;
  const CollectOptions& options_;
  std::vector<Glob> globs_;
  std::vector<bool> matched_;
  std::deque<std::string> directories_;  // still to be looked into
  std::size_t queued_ = 0;               // bytes of these
  std::uint64_t entries_ = 0;
  bool full_ = false;
  Collected result_;
};

}  // namespace

Result<Collected> collect_files(int top, const OutputDirectory& into,
                                const CollectOptions& options) {
  std::vector<Glob> globs;
  for (const std::string& pattern : options.globs) {
    auto glob = Glob::parse(pattern);
    if (!glob) return std::unexpected(std::move(glob.error()));
    globs.push_back(*std::move(glob));
  }
  if (into.is_within(top)) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      "the directory to collect into, " + base::printable(options.into) +
                          ", is in the work directory, which is removed: choose another");
  }
  return Collector(top, into, options, std::move(globs)).collect();
}

}  // namespace cordon::workdir
