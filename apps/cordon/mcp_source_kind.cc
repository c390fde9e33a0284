#include "mcp_source_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "backend/posix/lookup.h"
#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "concat.h"
#include "mcp/source/jsonc.h"

namespace cordon::app {
namespace {

using Kind = SourceKind::Kind;

std::unexpected<Error> wrong(const std::string& path, std::string_view what) {
  return base::fail(ErrorCode::invalid_argument, "server",
                    concat(base::printable(path), " ", what));
}

bool is_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// By its names alone; whoever reads it is strict.
Result<SourceKind> kind_of_json(const std::string& path) {
  const auto text = read_source(path, kLargestDescription);
  if (!text) return std::unexpected(text.error());
  const auto top = mcp::parse_jsonc(*text);
  if (!top) return wrong(path, concat("is not JSON: ", top.error()));
  const auto has = [&](std::string_view name) { return top->member(name) != nullptr; };
  if (has("mcpServers") || has("servers")) {
    return wrong(path, concat("is a client's file: name one of its servers by --config ",
                              base::printable(path), " --name NAME"));
  }
  std::vector<Kind> kinds;
  if (has("manifest_version") || has("dxt_version")) kinds.push_back(Kind::bundle);
  if (has("packages") || has("remotes")) kinds.push_back(Kind::registry);
  if (has("entrypoint")) kinds.push_back(Kind::manifest);
  if (kinds.size() > 1) {
    return wrong(path,
                 "could be several things: of \"manifest_version\" (a bundle), \"packages\" (a "
                 "server.json) and \"entrypoint\" (a manifest of Cordon) leave one");
  }
  if (kinds.empty()) {
    return wrong(path,
                 "does not describe a server: it has neither \"manifest_version\" (a bundle) nor "
                 "\"packages\" (a server.json) nor \"entrypoint\" (a manifest of Cordon)");
  }
  return SourceKind{.kind = kinds.front(), .file = path};
}

Result<SourceKind> kind_of_directory(const std::string& path) {
  std::vector<std::string> found;
  for (const char* const name : {"manifest.json", "manifest.toml", "server.json"}) {
    if (std::string file = concat(path, "/", name); is_file(file)) found.push_back(std::move(file));
  }
  if (found.size() > 1) {
    return wrong(path, concat("has several descriptions of a server; name one of ",
                              base::printable(comma_separated(found))));
  }
  if (found.empty()) {
    return wrong(path,
                 "is a directory without a manifest.json, manifest.toml or server.json, so that it "
                 "is no server");
  }
  if (found.front().ends_with(".json")) return kind_of_json(found.front());
  return SourceKind{.kind = Kind::manifest, .file = found.front()};
}

bool in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> environment = {concat("PATH=", path == nullptr ? "" : path)};
  return posix::find_program(name, environment).has_value();
}

}  // namespace

Result<std::string> read_source(const std::string& path, std::size_t most) {
  const auto cannot = [&](int error) {
    return base::fail_os("server", error, concat("reading ", base::printable(path)));
  };
  // Non-blocking: a pipe without a writer must not hold the command up.
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) return cannot(errno);
  if (!S_ISREG(found.st_mode)) return wrong(path, "is not a regular file");
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= most) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot(errno);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return wrong(path, "is too large for what it should be");
}

Result<SourceKind> recognise_source(const std::string& server) {
  const bool archive = server.ends_with(".mcpb") || server.ends_with(".dxt");
  const bool json = server.ends_with(".json");
  const bool toml = server.ends_with(".toml");
  struct stat info{};
  const bool there = ::stat(server.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) {
    auto kind = kind_of_directory(server);
    if (server.contains('/') || !in_path(server)) return kind;
    if (!kind) return SourceKind{};
    return wrong(server, concat("is a server's folder and a program: write ./",
                                base::printable(server), " or -- ", base::printable(server)));
  }
  if (!archive && !json && !toml) return SourceKind{};
  if (!there) {
    return base::fail_os("server", errno, concat("looking for ", base::printable(server)));
  }
  if (archive) return SourceKind{.kind = Kind::archive, .file = server};
  if (toml) return SourceKind{.kind = Kind::manifest, .file = server};
  return kind_of_json(server);
}

}  // namespace cordon::app
