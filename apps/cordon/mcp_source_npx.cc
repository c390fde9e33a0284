#include "mcp_source_npx.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/posix/lookup.h"
#include "concat.h"
#include "mcp/source/installed_package.h"
#include "mcp_source_kind.h"

namespace cordon::app {
namespace {

constexpr auto kFetching = std::to_array<std::string_view>({"npx", "bunx", "uvx", "pipx", "dnx"});

// Where packages are that npx would find, those that were installed on purpose first.
std::vector<std::string> places(const std::string& npx) {
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  const fs::path prefix = fs::path(npx).parent_path().parent_path();
  all.push_back((prefix / "lib/node_modules").string());
  all.emplace_back("/usr/local/lib/node_modules");
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return all;
  std::error_code error;
  std::vector<std::string> cached;
  for (auto entry = fs::directory_iterator(fs::path(home) / ".npm/_npx", error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    cached.push_back((entry->path() / "node_modules").string());
  }
  std::ranges::sort(cached);
  all.insert(all.end(), cached.begin(), cached.end());
  return all;
}

std::optional<std::string> find_installed(const Request& request, const mcp::NpxCall& call) {
  const auto npx = posix::find_program(request.program, posix::environment_for(request));
  if (!npx) return std::nullopt;
  auto program = mcp::installed_program(
      call, places(*npx), {.read = [](const std::string& path) -> std::optional<std::string> {
        auto text = read_source(path, kLargestDescription);
        if (!text) return std::nullopt;
        return *std::move(text);
      }});
  if (!program || ::access(program->c_str(), X_OK) != 0) return std::nullopt;
  return program;
}

}  // namespace

std::string run_without_fetching(Request& request) {
  const std::string name = request.program.substr(request.program.rfind('/') + 1);
  if (request.network == Network::host || std::ranges::find(kFetching, name) == kFetching.end()) {
    return {};
  }
  if (name == "npx") {
    auto call = mcp::parse_npx(request.args);
    auto program = call ? find_installed(request, *call) : std::nullopt;
    if (program) {
      request.program = *std::move(program);
      request.args = std::move(call->args);
      return {};
    }
  }
  return concat(name,
                " fetches what it runs unless that is installed, and there is no network: install "
                "the server ahead and name its own command, or allow --net host");
}

}  // namespace cordon::app
