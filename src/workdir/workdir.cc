#include "cordon/workdir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "workdir/collect.h"
#include "workdir/names.h"
#include "workdir/output_directory.h"
#include "workdir/safe_directory.h"
#include "workdir/sweep.h"

namespace cordon {

namespace wd = workdir;

struct WorkDir::State {
  base::Fd parent;     // CACHE/work
  base::Fd directory;  // locked
  std::string above;   // the path of `parent`
  std::string name;
  std::string path;
  Clock* clock = nullptr;
  std::string complaint;
  bool kept = false;
  bool removed = false;
};

namespace {

constexpr const char* kStage = "workdir";
constexpr const char* kWork = "work";
constexpr mode_t kPrivate = 0700;
constexpr Duration kSweepTime = std::chrono::seconds(1);

Result<std::string> cache_of(const WorkDirOptions& options) {
  return options.cache.empty() ? default_cache() : Result<std::string>(options.cache);
}

std::string text_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::unexpected<Error> cannot_make(const std::string& path, int error) {
  return base::fail_os(kStage, error, "cannot make the work directory " + base::printable(path));
}

// A directory of this name that was not there before; empty: errno says why.
base::Fd make_directory(int parent, const char* name, const std::optional<User>& owner) {
  if (::mkdirat(parent, name, kPrivate) != 0) return {};
  base::Fd made(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  // Whatever the umask took away.
  if (!made || ::fchmod(made.get(), kPrivate) != 0) return {};
  if (owner && ::fchown(made.get(), owner->uid, owner->gid) != 0) return {};
  return made;
}

// The first name from now on that is free: clocks may stand still, or be the same twice.
base::Fd make_unique(int parent, const std::string& prefix, std::uint64_t nanos,
                     std::string& name) {
  constexpr int kTries = 10'000;
  for (int tries = 0; tries < kTries; ++tries) {
    name = prefix + std::to_string(nanos + static_cast<std::uint64_t>(tries));
    // A name that was kept stays taken, too.
    if (::faccessat(parent, (name + std::string(wd::kKept)).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) ==
        0) {
      continue;
    }
    base::Fd made = make_directory(parent, name.c_str(), {});
    if (made || errno != EEXIST) return made;
  }
  return {};
}

}  // namespace

Result<WorkDir> WorkDir::create(const WorkDirOptions& options) {
  auto prefix = wd::name_prefix(options.name, options.version);
  if (!prefix) return std::unexpected(std::move(prefix.error()));
  auto cache = cache_of(options);
  if (!cache) return std::unexpected(std::move(cache.error()));
  auto parent = wd::open_safe_directory(*cache, kWork);
  if (!parent) return std::unexpected(std::move(parent.error()));

  auto state = std::make_unique<State>();
  state->parent = base::move_up(*std::move(parent));
  state->above = *cache + "/" + kWork;
  state->clock = options.clock;
  state->complaint = wd::sweep(state->parent.get(), state->above,
                               {*options.clock, options.clock->now() + kSweepTime});

  const auto nanos =
      static_cast<std::uint64_t>(options.clock->wall_now().time_since_epoch().count());
  if (!wd::lock(state->parent.get(), LOCK_SH)) return cannot_make(state->above, errno);
  state->directory = make_unique(state->parent.get(), *prefix, nanos, state->name);
  state->path = state->above + "/" + state->name;
  const int made = state->directory ? 0 : errno;
  const bool locked = state->directory && wd::lock(state->directory.get(), LOCK_EX | LOCK_NB);
  const int error = made != 0 ? made : errno;
  (void)wd::lock(state->parent.get(), LOCK_UN);
  if (!locked) return cannot_make(state->path, error);

  // From here on a failure removes it again.
  state->directory = base::move_up(std::move(state->directory));
  WorkDir work(std::move(state));
  const int top = work.state_->directory.get();
  for (const char* const name : {"tmp", "log"}) {
    if (!make_directory(top, name, options.owner)) {
      return cannot_make(work.path() + "/" + name, errno);
    }
  }
  if (options.owner && ::fchown(top, options.owner->uid, options.owner->gid) != 0) {
    return cannot_make(work.path(), errno);
  }
  return work;
}

Result<std::string> WorkDir::planned_path(const WorkDirOptions& options) {
  auto prefix = wd::name_prefix(options.name, options.version);
  if (!prefix) return prefix;
  auto cache = cache_of(options);
  if (!cache) return cache;
  return *cache + "/" + kWork + "/" + *prefix + "NANOS";
}

WorkDir::WorkDir(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkDir::WorkDir(WorkDir&&) noexcept = default;
WorkDir::~WorkDir() {
  if (state_) (void)remove();
}
WorkDir& WorkDir::operator=(WorkDir&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

const std::string& WorkDir::path() const { return state_->path; }
const std::string& WorkDir::sweep_complaint() const { return state_->complaint; }

void WorkDir::use_in(Request& request) const {
  request.cwd = path();
  request.grants.push_back(Grant::write(path()));
  if (std::ranges::find(request.env, "TMPDIR", &EnvVar::name) == request.env.end()) {
    request.env.push_back({"TMPDIR", tmp()});
  }
}

Result<Collected> WorkDir::collect(const CollectOptions& options) const {
  auto into = options.into_fd >= 0 ? wd::OutputDirectory::from_fd(options.into_fd, options.into)
                                   : wd::OutputDirectory::open(options.into);
  if (!into) return std::unexpected(std::move(into.error()));
  return wd::collect_files(state_->directory.get(), *into, options);
}

Result<void> WorkDir::keep() {
  if (state_->kept) return {};
  const std::string name = state_->name + std::string(wd::kKept);
  if (::renameat(state_->parent.get(), state_->name.c_str(), state_->parent.get(), name.c_str()) !=
      0) {
    return base::fail_os(kStage, errno,
                         "cannot keep the work directory " + base::printable(path()));
  }
  state_->name = name;
  state_->path = state_->above + "/" + name;
  state_->kept = true;
  return {};
}

Result<void> WorkDir::remove(Duration patience) {
  if (state_->kept || state_->removed) return {};
  state_->removed = true;
  return wd::remove_directory(state_->parent.get(), state_->name, state_->directory.get(), path(),
                              {*state_->clock, state_->clock->now() + patience});
}

Result<std::string> default_cache() {
  return wd::cache_for(::geteuid(), text_of("XDG_CACHE_HOME"), text_of("HOME"));
}

}  // namespace cordon
