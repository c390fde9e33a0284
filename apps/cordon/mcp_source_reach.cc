#include "mcp_source_reach.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/posix/lookup.h"
#include "base/fd.h"
#include "base/paths.h"
#include "concat.h"
#include "execution/policy_files.h"
#include "mcp/source/runtime_reach.h"

namespace cordon::app {
namespace {

std::optional<std::string> link_at(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size <= 0 || static_cast<std::size_t>(size) >= target.size()) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

std::string first_line_of(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::array<char, 512> buffer;
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  if (got <= 0) return {};
  const std::string text(buffer.data(), static_cast<std::size_t>(got));
  return text.substr(0, text.find('\n'));
}

// A relative path, as it is seen from `directory` or else from here.
std::string from_here(const std::string& directory, const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole =
      std::filesystem::absolute(std::filesystem::path(directory) / path, error);
  if (error) return path;
  // Where the directory really is: what ".." means depends on links.
  const auto parent = std::filesystem::canonical(whole.parent_path(), error);
  return error ? whole.string() : (parent / whole.filename()).string();
}

bool granted(const Request& request, const std::string& path) {
  return std::ranges::any_of(request.grants, [&](const Grant& grant) {
    const bool same_place = grant.target.empty() || grant.target == grant.source;
    return grant.kind != Grant::Kind::tmpfs && same_place && base::at_or_below(path, grant.source);
  });
}

void put_in_front(Request& request, const std::vector<std::string>& directories,
                  std::string_view path) {
  if (directories.empty()) return;
  std::string all;
  for (const std::string& directory : directories) all += concat(directory, ":");
  request.env.push_back({.name = "PATH", .value = concat(all, path)});
}

}  // namespace

void grant_runtime(Request& request) {
  const auto environment = posix::environment_for(request);
  const auto find = [&](const std::string& name) -> std::optional<std::string> {
    auto found = posix::find_program(name, environment);
    if (!found) return std::nullopt;
    return *std::move(found);
  };
  std::string program = request.program;
  if (program.contains('/') && !program.starts_with('/')) {
    program = from_here(request.cwd, program);
    // A run without a directory of its caller's has one of its own, in which this is not.
    if (request.cwd.empty()) request.program = program;
  }
  const auto found = find(program);
  if (!found || !found->starts_with('/')) return;
  // What HOME says is the caller's to choose; so the real one is not to be seen either.
  const char* const set = std::getenv("HOME");
  const std::vector<std::string> homes = {execution::home_directory(), set == nullptr ? "" : set};
  const auto reach = mcp::runtime_reach(
      *found, homes,
      {.link = link_at,
       .exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; },
       .first_line = first_line_of,
       .find = find});
  if (reach.program != *found) {
    if (request.argv0.empty()) request.argv0 = request.program;
    request.program = reach.program;
  }
  for (const std::string& path : reach.read) {
    if (!granted(request, path)) request.grants.push_back(Grant::read(path));
  }
  put_in_front(request, reach.path, posix::path_of(environment));
}

}  // namespace cordon::app
