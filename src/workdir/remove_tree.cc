#include "workdir/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "workdir/beneath.h"
#include "workdir/directory_reader.h"

namespace cordon::workdir {
namespace {

constexpr const char* kStage = "clean-up";

class TreeRemover {
 public:
  TreeRemover(int top, const std::string& path, const Deadline& deadline)
      : top_(top), path_(path), deadline_(deadline) {}

  Result<void> empty() {
    // The program may have shut its own directory.
    (void)::fchmod(top_, S_IRWXU);
    DirectoryReader reader(top_);
    do {
      reader.rewind();
      progress_ = 0;
      first_failure_.reset();
      failures_ = 0;
      if (auto read = pass(reader); !read) return read;
      if (late_) return too_late();
    } while (seen_ > 0 && progress_ > 0);
    return seen_ == 0 ? Result<void>{} : failure();
  }

 private:
  enum class Unlinked : std::uint8_t { gone, is_directory, stuck };

  // Everything that is in `top` now; what is moved up meanwhile may have to wait for the next one.
  Result<void> pass(DirectoryReader& reader) {
    seen_ = 0;
    while (const auto entry = reader.next()) {
      ++seen_;
      if (late()) return {};
      remove(entry->name, entry->is_directory);
    }
    if (reader.error() == 0) return {};
    return base::fail_os(kStage, reader.error(), "cannot read " + base::printable(path_));
  }

  void remove(const char* name, bool is_directory) {
    if (!is_directory && unlink_in(top_, name, name, "") != Unlinked::is_directory) return;
    if (removed_empty(name)) return;
    const int error = errno;
    if (error == ENOENT) return;
    if (error == ENOTDIR) {  // swapped; the next pass sees what it is now
      ++progress_;
      return;
    }
    if (error == EBUSY) return note(name, "", error);
    const std::uint64_t failures = failures_;
    clear(name);
    // With something left in it, it is that which has to be told.
    if (!removed_empty(name) && errno != ENOENT && failures_ == failures) note(name, "", errno);
  }

  bool removed_empty(const char* name) {
    if (::unlinkat(top_, name, AT_REMOVEDIR) != 0) return false;
    ++progress_;
    return true;
  }

  // Empties one directory of `top`: files are removed, directories moved up.
  void clear(const char* name) {
    const base::Fd directory = open_to_empty(top_, name);
    if (!directory) {
      if (errno == ENOTDIR || errno == ENOENT || errno == ELOOP) return;  // swapped
      return note(name, "", errno);
    }
    DirectoryReader reader(directory.get());
    while (const auto entry = reader.next()) {
      if (late()) return;
      clear_entry(directory.get(), *entry, name);
    }
    if (reader.error() != 0) note(name, "", reader.error());
  }

  void clear_entry(int directory, const DirectoryReader::Entry& entry, const char* where) {
    if (!entry.is_directory &&
        unlink_in(directory, entry.name, where, entry.name) != Unlinked::is_directory) {
      return;
    }
    if (::unlinkat(directory, entry.name, AT_REMOVEDIR) == 0) {
      ++progress_;
    } else if (errno == EBUSY) {
      note(where, entry.name, EBUSY);
    } else {
      move_up(directory, entry.name, where);
    }
  }

  Unlinked unlink_in(int directory, const char* name, std::string_view where,
                     std::string_view below) {
    if (::unlinkat(directory, name, 0) == 0) {
      ++progress_;
      return Unlinked::gone;
    }
    if (errno == ENOENT) return Unlinked::gone;
    if (errno == EISDIR) return Unlinked::is_directory;
    note(where, below, errno);
    return Unlinked::stuck;
  }

  // Whatever has this name by now is moved, never what a link leads to.
  void move_up(int directory, const char* name, const char* where) {
    bool opened = false;
    for (int tries = 0; tries < kTries; ++tries) {
      const std::string free_name = ".cordon-" + std::to_string(next_name_++);
      if (::renameat(directory, name, top_, free_name.c_str()) == 0) {
        ++progress_;
        return;
      }
      const int error = errno;
      if (error == ENOENT) return;
      // The name is taken, by the program or by an attempt before.
      if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR || error == EISDIR) continue;
      // A directory can be moved only by who may write in it: its ".." changes.
      if (error == EACCES && !std::exchange(opened, true)) {
        (void)open_to_empty(directory, name);
        continue;
      }
      return note(where, name, error);
    }
    note(where, name, EEXIST);
  }

  void note(std::string_view where, std::string_view name, int error) {
    ++failures_;
    if (first_failure_) return;
    std::string path = path_ + "/" + std::string(where);
    if (!name.empty()) path += "/" + std::string(name);
    first_failure_ = {std::move(path), error};
  }

  bool late() {
    late_ = late_ || deadline_.passed();
    return late_;
  }

  [[nodiscard]] Result<void> too_late() const {
    return base::fail(ErrorCode::timed_out, kStage,
                      "cleanup timeout: directory may leak: " + base::printable(path_) +
                          "; the next run with a work directory goes on removing it");
  }

  [[nodiscard]] Result<void> failure() const {
    const auto& [path, error] =
        first_failure_.value_or(std::pair<std::string, int>{path_, ENOTEMPTY});
    std::string message =
        "cannot remove the work directory " + base::printable(path_) + ", because of ";
    if (failures_ > 1) message += std::to_string(failures_) + " things in it, first ";
    return base::fail_os(kStage, error, message + base::printable(path));
  }

  static constexpr int kTries = 1000;

  const int top_;
  const std::string& path_;
  const Deadline& deadline_;
  std::uint64_t next_name_ = 0;
  std::uint64_t seen_ = 0;      // entries of `top` in this pass
  std::uint64_t progress_ = 0;  // what was removed or moved in it
  std::uint64_t failures_ = 0;
  bool late_ = false;
  std::optional<std::pair<std::string, int>> first_failure_;
};

}  // namespace

Result<void> empty_directory(int top, const std::string& path, const Deadline& deadline) {
  return TreeRemover(top, path, deadline).empty();
}

}  // namespace cordon::workdir
