#include "backend/linux/caller.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/cache_directory.h"

namespace cordon::linux_backend {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As the kernel names it: /home may be a symbolic link.
std::string real(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(path, ignored).string();
}

template <typename Real>
plan::Caller look(const Real& real) {
  plan::Caller caller;
  caller.uid = ::geteuid();
  caller.gid = ::getegid();
  char cwd[PATH_MAX];
  if (::getcwd(cwd, sizeof cwd) != nullptr) caller.cwd = cwd;
  const std::string home = variable("HOME");
  if (!home.empty()) caller.home = real(home);
  // Where the caller's pool and its counts of live runs are, also when the variable is not set now.
  caller.own.push_back("/run/user/" + std::to_string(caller.uid) + "/cordon");
  if (const std::string runtime = variable("XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
    std::string named = real(runtime) + "/cordon";
    if (named != caller.own.front()) caller.own.push_back(std::move(named));
  }
  const std::string cache = base::cache_directory(caller.uid, variable("XDG_CACHE_HOME"), home);
  if (!cache.empty()) caller.images = real(cache + "/" + std::string(base::kImagesDirectory));
  return caller;
}

}  // namespace

plan::Caller caller_now() { return look(real); }

plan::Caller Callers::now() {
  const std::lock_guard lock(mutex_);
  return look([&](const std::string& path) {
    const auto [known, is_new] = real_.try_emplace(path);
    if (is_new) known->second = real(path);
    return known->second;
  });
}

}  // namespace cordon::linux_backend
