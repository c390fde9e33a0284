#include "workdir_scope.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "message.h"
#include "workdir/output_directory.h"

namespace cordon::app {
namespace {

// The program's own name, as far as it is one: nobody has chosen it for this.
std::string name_for(const std::string& program) {
  constexpr std::size_t kMost = 64;
  std::string name = program.substr(program.find_last_of('/') + 1).substr(0, kMost);
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && !(c >= '0' && c <= '9') &&
               std::string_view("._+-").find(c) == std::string_view::npos;
      },
      '_');
  return name.empty() || name == "." || name == ".." ? "program" : name;
}

WorkDirOptions options_for(const WorkDirAsk& ask, const Request& request) {
  WorkDirOptions options{.cache = ask.cache,
                         .name = ask.name.empty() ? name_for(request.program) : ask.name};
  if (!ask.version.empty()) options.version = ask.version;
  // Without --user, what a root caller's program makes comes out as root's.
  if (::geteuid() == 0) options.owner = request.user;
  return options;
}

// It is not the program that is not permitted.
std::unexpected<Error> not_set_up(Error error) {
  if (error.code == ErrorCode::not_permitted || error.code == ErrorCode::not_found) {
    error.code = ErrorCode::system;
  }
  return std::unexpected(std::move(error));
}

bool isolates(const Manager& manager) { return manager.capabilities().backend == "linux"; }

void tell(std::string_view what, const std::vector<Collected::Refused>& all) {
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    complain(concat(what, base::printable(all[i].path), ": ", all[i].why));
  }
  if (all.size() > kMost) {
    complain(concat(what, "and ", std::to_string(all.size() - kMost), " more"));
  }
}

}  // namespace

Result<WorkDirScope> WorkDirScope::open(const WorkDirAsk& ask, Request& request,
                                        const Manager& manager) {
  WorkDirScope scope;
  scope.ask_ = ask;
  if (!ask.wanted) return scope;
  if (!ask.collect.empty()) {
    // Before the run: the program may have a say in what this path leads to afterwards.
    auto into = workdir::OutputDirectory::open(ask.into);
    if (!into) return not_set_up(std::move(into.error()));
    scope.into_ = base::Fd(::fcntl(into->fd(), F_DUPFD_CLOEXEC, 3));
    if (!scope.into_) {
      return base::fail_os("collect", errno, concat("cannot open ", base::printable(ask.into)));
    }
  }
  auto made = WorkDir::create(options_for(ask, request));
  if (!made) return not_set_up(std::move(made.error()));
  scope.directory_.emplace(*std::move(made));
  WorkDir& directory = *scope.directory_;
  if (!directory.sweep_complaint().empty()) complain(directory.sweep_complaint());
  if (ask.keep) {
    if (auto kept = directory.keep(); !kept) return not_set_up(std::move(kept.error()));
  }
  directory.use_in(request);
  if (!isolates(manager)) request.grants.pop_back();
  return scope;
}

bool WorkDirScope::finish(bool ran) {
  if (!directory_) return true;
  const bool collected = !ran || ask_.collect.empty() || collect();
  // Somebody has to be told, but how the program ended is worth more than this.
  if (const auto removed = directory_->remove(); !removed) complain(removed.error().message);
  if (ask_.keep) complain(concat("kept the work directory ", base::printable(directory_->path())));
  return collected;
}

bool WorkDirScope::collect() {
  CollectOptions options{.globs = ask_.collect, .into = ask_.into, .into_fd = into_.get()};
  if (ask_.collect_limit != 0) options.max_bytes = ask_.collect_limit;
  const auto collected = directory_->collect(options);
  if (!collected) {
    complain(collected.error().message);
    return false;
  }
  for (const std::string& glob : collected->unmatched) {
    complain(concat("nothing in the work directory matches --collect ", base::printable(glob)));
  }
  tell("not collected: ", collected->refused);
  tell("could not collect ", collected->failed);
  // What is there, and only could not be put where it was to go, must not be lost.
  if (!collected->failed.empty() && !ask_.keep) {
    ask_.keep = directory_->keep().has_value();
  }
  return collected->refused.empty() && collected->failed.empty();
}

Result<void> plan_workdir(const WorkDirAsk& ask, Request& request, const Manager& manager) {
  if (!ask.wanted) return {};
  auto path = WorkDir::planned_path(options_for(ask, request));
  if (!path) return std::unexpected(std::move(path.error()));
  request.cwd = *path;
  if (isolates(manager)) request.grants.push_back(Grant::write(*path));
  if (std::ranges::find(request.env, "TMPDIR", &EnvVar::name) == request.env.end()) {
    request.env.push_back({"TMPDIR", *path + "/tmp"});
  }
  return {};
}

}  // namespace cordon::app
