#include "backend/gvisor/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/linux/cgroup_names.h"
#include "base/errors.h"
#include "plan/sandbox_plan.h"

namespace cordon::gvisor_backend {
namespace {

namespace fs = std::filesystem;
constexpr const char* kStage = "gvisor";
constexpr mode_t kPrivate = 0700;

Result<void> make_private(const std::string& path, mode_t mode = kPrivate) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return base::fail_os(kStage, errno, "making the directory " + path);
  }
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return base::fail_os(kStage, errno, "looking at " + path);
  constexpr mode_t kOthersWrite = 022;
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & kOthersWrite) != 0) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      path + " is not a directory that only this user can change: remove it");
  }
  return {};
}

std::string above() {
  if (::geteuid() == 0) return std::string(plan::kRuntimeDirectory);
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && ::access(runtime, W_OK) == 0) {
    return std::string(runtime) + "/cordon";
  }
  return "/tmp/cordon-" + std::to_string(::geteuid());
}

// Parts of the host are mounted there, for runsc alone (oci_bundle.h). If they ever were for us,
// too, nothing below them may be removed: only what is empty is, and in its place. False: leave the
// rest.
bool remove_sources(const fs::path& run) {
  const fs::path sources = run / "bundle" / "sources";
  std::error_code failed;
  std::vector<fs::path> places;
  for (const auto& entry : fs::directory_iterator(sources, failed)) places.push_back(entry.path());
  for (const fs::path& place : places) (void)::remove(place.c_str());
  return ::rmdir(sources.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

Result<std::string> directory_of_runs() {
  const std::string top = above();
  // Others may have to see what else is in root's.
  if (auto made = make_private(top, ::geteuid() == 0 ? 0755 : kPrivate); !made) {
    return std::unexpected(std::move(made.error()));
  }
  std::string runs = top + "/gvisor";
  if (auto made = make_private(runs); !made) return std::unexpected(std::move(made.error()));
  return runs;
}

Result<RunDirectory> RunDirectory::make() {
  static std::atomic<std::uint64_t> number{0};
  auto runs = directory_of_runs();
  if (!runs) return std::unexpected(std::move(runs.error()));
  const auto self = linux_backend::this_owner();
  if (!self) {
    return base::fail(ErrorCode::system, kStage,
                      "/proc does not tell who this process is: mount it");
  }
  std::string path = *runs + "/" + linux_backend::cgroup_name(*self, ++number);
  if (::mkdir(path.c_str(), kPrivate) != 0) {
    return base::fail_os(kStage, errno, "making the directory " + path);
  }
  RunDirectory made(std::move(path), true);
  for (const std::string& below : {made.bundle(), made.state()}) {
    if (auto ok = make_private(below); !ok) return std::unexpected(std::move(ok.error()));
  }
  return made;
}

Result<RunDirectory> RunDirectory::use(const std::string& directory) {
  RunDirectory used(directory, false);
  for (const std::string& below : {used.bundle(), used.state()}) {
    if (auto ok = make_private(below); !ok) return std::unexpected(std::move(ok.error()));
  }
  return used;
}

RunDirectory::~RunDirectory() {
  if (path_.empty() || !remove_sources(path_)) return;
  std::error_code ignored;
  if (removes_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (const std::string& below : {bundle(), state(), log()}) fs::remove_all(below, ignored);
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), removes_(other.removes_) {}

RunDirectory& RunDirectory::operator=(RunDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(removes_, other.removes_);
  return *this;
}

std::size_t sweep_runs() {
  const auto runs = directory_of_runs();
  const auto self = linux_backend::this_owner();
  if (!runs || !self) return 0;
  std::error_code failed;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(*runs, failed)) {
    const auto owner = linux_backend::owner_of(entry.path().filename().string());
    if (owner && linux_backend::is_dead(*owner, *self)) dead.push_back(entry.path());
  }
  std::size_t removed = 0;
  for (const fs::path& path : dead) {
    if (!remove_sources(path)) continue;
    if (fs::remove_all(path, failed) > 0 && !failed) ++removed;
  }
  return removed;
}

}  // namespace cordon::gvisor_backend
