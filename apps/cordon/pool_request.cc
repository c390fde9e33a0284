#include "pool_request.h"

#include <algorithm>
#include <utility>

#include "concat.h"
#include "pool_messages.h"
#include "request/environment.h"

namespace cordon::app::pool {
namespace {

bool read_where_it_runs(std::string_view name) { return name == "HOME" || name == "TMPDIR"; }

}  // namespace

std::string why_not_carried(const Request& request) {
  if (!request.secrets.empty()) return "secrets are not given to a pool";
  if (request.terminal) return "a program with a terminal is not run by a pool";
  if (request.explain) return "--explain needs a sandbox of its own";
  if (request.pins.size() > kMostPins) return "the policy has checked too many files";
  if (to_bytes(request).size() > kMostBytes / 2) return "its arguments and variables are too large";
  return {};
}

Request for_pool(Request request, const Limits& limits, const std::string& cwd,
                 std::span<const std::string_view> environment) {
  request.limits = limits;
  request.limits.output_bytes.reset();
  if (!request.root.empty()) {
    // A place in the root.
  } else if (request.cwd.empty()) {
    request.cwd = cwd;
  } else if (!request.cwd.starts_with('/')) {
    request.cwd = concat(cwd, "/", request.cwd);
  }
  const std::size_t set = request.env.size();
  std::vector<std::string> left;
  for (const std::string& entry : request::resolve_environment(request, environment)) {
    const std::size_t equals = entry.find('=');
    std::string name = entry.substr(0, equals);
    const auto already = request.env.begin() + static_cast<std::ptrdiff_t>(set);
    if (std::find_if(request.env.begin(), already,
                     [&](const EnvVar& v) { return v.name == name; }) != already) {
      continue;
    }
    if (read_where_it_runs(name)) {
      left.push_back(std::move(name));
    } else if (equals != std::string::npos) {
      request.env.push_back({std::move(name), entry.substr(equals + 1)});
    }
  }
  request.env_pass = std::move(left);
  return request;
}

}  // namespace cordon::app::pool
