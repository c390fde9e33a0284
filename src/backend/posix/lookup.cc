#include "backend/posix/lookup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/errors.h"
#include "base/fd.h"
#include "request/environment.h"

namespace cordon::posix {
namespace {

using base::errno_text;
using base::Fd;

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::string_view kStage = "exec";

bool is_program(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// "/usr/bin/python9" for a file that begins with "#!/usr/bin/python9 -u".
std::optional<std::string> interpreter_of(int file) {
  char head[256];
  const ssize_t size = ::read(file, head, sizeof head);
  const std::string_view text(head, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!text.starts_with("#!")) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(" \t", 2);
  if (begin == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(begin, text.find_first_of(" \t\n", begin) - begin));
}

std::string directory_as_seen(const std::string& cwd) { return cwd.empty() ? "." : cwd; }

Error error(ErrorCode code, int os_error, std::string message) {
  return {code, std::string(kStage), os_error, std::move(message)};
}

Error explain_missing(const std::string& path, const std::string& cwd, int os_error) {
  const Fd directory(::open(directory_as_seen(cwd).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd file(directory ? ::openat(directory.get(), path.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (!file) {
    return error(
        ErrorCode::not_found, os_error,
        "program " + path + " was not found: check the path" +
            (cwd.empty() || path.starts_with('/') ? "" : " (it is relative to " + cwd + ")"));
  }
  // It exists, so what is missing is what it needs to be loaded.
  if (const auto interpreter = interpreter_of(file.get())) {
    if (interpreter->ends_with('\r')) {
      return error(ErrorCode::not_executable, os_error,
                   "script " + path +
                       " cannot be run: its #! line ends with a carriage return; "
                       "save it with Unix line ends");
    }
    return error(ErrorCode::not_executable, os_error,
                 "script " + path + " cannot be run: its interpreter " + *interpreter +
                     " was not found; install it or change the #! line");
  }
  return error(ErrorCode::not_executable, os_error,
               "program " + path +
                   " cannot be run: its loader was not found; it may be made for "
                   "another system");
}

Error explain_refused(const std::string& path, const std::string& cwd, int os_error) {
  const Fd directory(::open(directory_as_seen(cwd).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  const bool known = directory && ::fstatat(directory.get(), path.c_str(), &info, 0) == 0;
  std::string why = errno_text(os_error) + "; make it executable (chmod +x) or check the mount";
  if (known && S_ISDIR(info.st_mode)) why = "it is a directory; name a file in it";
  return error(ErrorCode::not_executable, os_error, "program " + path + " cannot be run: " + why);
}

}  // namespace

std::vector<std::string> environment_for(const Request& request) {
  std::vector<std::string_view> host;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    host.emplace_back(*entry);
  }
  return request::resolve_environment(request, host);
}

std::string_view path_of(std::span<const std::string> environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kName)) return std::string_view(entry).substr(kName.size());
  }
  return kDefaultPath;
}

Result<std::string> find_program(const std::string& name,
                                 std::span<const std::string> environment) {
  if (name.find('/') != std::string::npos) return name;

  std::optional<std::string> unusable;
  std::string_view rest = path_of(environment);
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    if (!directory.starts_with('/')) continue;
    std::string candidate = std::string(directory) + "/" + name;
    if (!is_program(candidate)) continue;
    if (::faccessat(AT_FDCWD, candidate.c_str(), X_OK, AT_EACCESS) == 0) return candidate;
    if (!unusable) unusable = std::move(candidate);
  }
  if (unusable) return std::unexpected(explain_refused(*unusable, "", EACCES));
  return std::unexpected(error(ErrorCode::not_found, ENOENT,
                               "program " + name + " was not found in the PATH it would see (" +
                                   std::string(path_of(environment)) +
                                   "): install it, give its full path, or set PATH"));
}

Error explain_exec_failure(const std::string& path, const std::string& cwd, int os_error) {
  switch (os_error) {
    case ENOENT:
    case ENOTDIR:
      return explain_missing(path, cwd, os_error);
    case EACCES:
      return explain_refused(path, cwd, os_error);
    case ENOEXEC:
      return error(ErrorCode::not_executable, os_error,
                   "program " + path +
                       " is not in a format this system executes: if it is a "
                       "script, give it a #! line");
    case E2BIG:
      return error(ErrorCode::not_executable, os_error,
                   "program " + path +
                       " cannot be run: its arguments and environment are larger "
                       "than the OS allows; pass the data by stdin or a file");
    case ENOMEM:
    case EAGAIN:
      return error(ErrorCode::resource_exhausted, os_error,
                   "executing " + path + ": " + errno_text(os_error));
    default:
      return error(ErrorCode::not_executable, os_error,
                   "program " + path + " cannot be run: " + errno_text(os_error));
  }
}

}  // namespace cordon::posix
