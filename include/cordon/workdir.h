// WorkDir: a fresh, private directory for one run, removed with it.
//
//   auto work = cordon::WorkDir::create({.name = "converter", .version = "1.2"});
//   if (!work) …
//   work->use_in(request);                     // granted, current directory, TMPDIR
//   cordon::Outcome outcome = cordon::run(*manager, request);
//   auto kept = work->collect({.globs = {"out/*.txt"}, .into = "/srv/results"});
//   auto gone = work->remove();                // or let the destructor do it
//
// A WorkDir is for one thread at a time; different ones may be used from different threads and
// processes, with the same cache. While it lives it holds a lock, by which others know that it is
// in use: what a killed process left behind is removed by the next create() with the same cache.
//
// Nothing here follows a symbolic link below the cache, crosses into another file system, or trusts
// a name that was looked at before. See docs/workdir.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/isolation.h"
#include "cordon/request.h"

namespace cordon {

inline constexpr Duration kCleanUpTime = std::chrono::seconds(5);

struct WorkDirOptions {
  std::string cache{};           // absolute; empty: default_cache()
  std::string name{};            // of the program or package; "/" in it becomes "_"
  std::string version = "0";     // the same
  std::optional<User> owner{};   // of the directory, for programs that run as another user; root's
  Clock* clock = &real_clock();  // must outlive the WorkDir
};

// What is to be taken out of a work directory.
struct CollectOptions {
  // Relative to the work directory. "*", "?" and "[…]" stay within one name; a name "**" is any
  // number of directories. Names that begin with a dot are matched only by a pattern that does too.
  std::vector<std::string> globs{};
  std::string into{};  // a directory; made if it is not there
  // The same, open already: `into` is its name in messages. Open it before the run if the program
  // may change what is above it. Borrowed.
  int into_fd = -1;
  std::uint64_t max_bytes = std::uint64_t{1024} * 1024 * 1024;  // of all files together
  std::uint32_t max_files = 10'000;
};

struct Collected {
  struct Refused {
    std::string path{};  // relative to the work directory
    std::string why{};
  };
  std::vector<std::string> files{};      // relative, as they are now below `into`
  std::uint64_t bytes = 0;               // their sizes, holes included
  std::vector<std::string> unmatched{};  // globs that nothing matched
  std::vector<Refused> refused{};        // matched, but not taken because of what they are
  std::vector<Refused> failed{};         // … because of the place they were to go to
};

class WorkDir {
 public:
  // CACHE/work/NAME-VERSION-NANOS, mode 0700, with tmp and log in it. Directories of the cache that
  // are missing are made. Errors: invalid_argument (name, version, cache); not_permitted when the
  // cache or a directory above it is a link, somebody else's, or writable by others; else the OS's.
  [[nodiscard]] static Result<WorkDir> create(const WorkDirOptions& options);
  // As create() would name it, with "NANOS" for the time; makes and looks at nothing.
  [[nodiscard]] static Result<std::string> planned_path(const WorkDirOptions& options);

  // Removes it, unless kept. An error is lost: call remove() to see it.
  ~WorkDir();
  WorkDir(WorkDir&&) noexcept;
  WorkDir& operator=(WorkDir&&) noexcept;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::string tmp() const { return path() + "/tmp"; }
  [[nodiscard]] std::string log() const { return path() + "/log"; }

  // Makes it the request's current directory, grants it for writing, and sets TMPDIR to its tmp,
  // unless the request sets TMPDIR itself. For a backend that refuses grants, take them out again.
  void use_in(Request& request) const;

  // Copies regular files that match a glob to the same relative paths below `into`, as new files of
  // mode 0644 (less by the umask). Never replaces a file. Links, other kinds of files and files
  // with several names are refused. What could not be taken is in the result; an error means that
  // nothing was tried: invalid_argument (globs, `into` inside the work directory), not_permitted
  // (`into` is not the caller's, or writable by others).
  [[nodiscard]] Result<Collected> collect(const CollectOptions& options) const;

  // Not removed, now or by others; path() ends in ".kept" from now on. Best called before the run.
  [[nodiscard]] Result<void> keep();
  // Errors: timed_out when it takes longer; else what could not be removed first, and why. Both
  // leave a directory behind, which the next create() with this cache tries to remove.
  [[nodiscard]] Result<void> remove(Duration patience = kCleanUpTime);

  // What removing the leftovers of killed processes met in create(); empty: nothing to complain of.
  [[nodiscard]] const std::string& sweep_complaint() const;

 private:
  struct State;
  explicit WorkDir(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// $XDG_CACHE_HOME/cordon or ~/.cache/cordon; for root /var/cache/cordon. Error: not_found, without
// a home directory.
[[nodiscard]] Result<std::string> default_cache();

}  // namespace cordon
