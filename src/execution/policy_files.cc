#include "execution/policy_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "execution/accounts.h"
#include "execution/safe_open.h"

namespace cordon::execution {
namespace {

constexpr std::string_view kStage = "policy";

// What the OS refuses to be read is no verdict about a program.
Error as_setup_error(Error error) {
  if (error.code == ErrorCode::not_permitted || error.code == ErrorCode::not_found) {
    error.code = ErrorCode::invalid_argument;
  }
  return error;
}

Result<policy::PolicyText> read_policy_file(const std::string& path) {
  const auto found = find_file(path);
  if (!found) return std::unexpected(as_setup_error(found.error()));
  if (!S_ISREG(found->info.st_mode)) {
    return std::unexpected(as_setup_error(open_regular(*found).error()));
  }
  if (auto ok = check_trusted(*found, "the policy file " + base::printable(found->path)); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  auto text = read_all(*found, policy::kMostBytes);
  if (!text) return std::unexpected(as_setup_error(std::move(text).error()));
  return policy::PolicyText{found->path, *std::move(text)};
}

// Whether there is a site policy. Only "no such file" means no: anything else is an error later.
bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// What the manifest names has to be beneath its directory, by no link.
Result<void> check_inside(int bundle, const policy::Placed<std::string>& path, const char* what) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const base::Fd file(
      static_cast<int>(::syscall(SYS_openat2, bundle, path.value.c_str(), &how, sizeof how)));
  if (file) return {};
  const std::string name = to_string(path.place) + ": " + what + " " + base::printable(path.value);
  if (errno == ELOOP) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      name + " is, or leads through, a symbolic link: name what it leads to");
  }
  return base::fail(
      ErrorCode::invalid_argument, kStage,
      name + " cannot be opened in the manifest's directory: " + base::errno_text(errno));
}

Result<void> check_contents(const LoadedManifest& loaded) {
  const base::Fd bundle(::open(loaded.bundle.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const policy::Manifest& manifest = loaded.manifest;
  if (manifest.command.value.contains('/')) {
    if (auto ok = check_inside(bundle.get(), manifest.command, "the command"); !ok) return ok;
  }
  if (manifest.cwd) {
    if (auto ok = check_inside(bundle.get(), *manifest.cwd, "cwd"); !ok) return ok;
  }
  for (const policy::Texts* list : {&manifest.read, &manifest.write}) {
    for (const auto& path : *list) {
      if (path.value.starts_with('/')) continue;
      if (auto ok = check_inside(bundle.get(), path, "the path"); !ok) return ok;
    }
  }
  return {};
}

}  // namespace

std::string home_directory() {
  const auto account = find_account(static_cast<std::uint32_t>(::getuid()));
  return account ? account->home : std::string();
}

Result<policy::Policy> load_policy(std::span<const std::string> files, const std::string& profile,
                                   std::string_view site) {
  std::vector<std::string> roots;
  if (exists(std::string(site))) roots.emplace_back(site);
  roots.insert(roots.end(), files.begin(), files.end());
  const policy::PathContext context{.home =
                                        roots.empty() && profile.empty() ? "" : home_directory()};
  return policy::assemble(roots, profile, read_policy_file, context);
}

Result<LoadedManifest> load_manifest(const std::string& file) {
  const auto found = find_file(file);
  if (!found) return std::unexpected(as_setup_error(found.error()));
  const auto text = read_all(*found, policy::kMostBytes);
  if (!text) return std::unexpected(as_setup_error(text.error()));
  auto manifest = policy::read_manifest(*text, found->path);
  if (!manifest) return std::unexpected(std::move(manifest).error());
  const std::size_t slash = found->path.rfind('/');
  LoadedManifest loaded{.manifest = *std::move(manifest),
                        .bundle = slash == 0 ? "/" : found->path.substr(0, slash)};
  if (auto ok = check_contents(loaded); !ok) return std::unexpected(std::move(ok).error());
  return loaded;
}

}  // namespace cordon::execution
