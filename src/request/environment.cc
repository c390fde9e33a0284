#include "request/environment.h"

#include <algorithm>

namespace cordon {

std::vector<std::string> default_env_pass() {
  return {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_*", "TERM", "TZ", "TMPDIR"};
}

namespace request {

bool glob_matches(std::string_view pattern, std::string_view text) {
  // Greedy with one point to come back to: linear in practice, never exponential.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> resolve_environment(const Request& request,
                                             std::span<const std::string_view> host) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < request.env.size(); ++i) {
    const EnvVar& var = request.env[i];
    const bool set_again =
        std::any_of(request.env.begin() + static_cast<std::ptrdiff_t>(i) + 1, request.env.end(),
                    [&](const EnvVar& later) { return later.name == var.name; });
    if (!set_again) all.push_back(var.name + "=" + var.value);
  }
  for (const std::string_view entry : host) {
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool set = std::any_of(request.env.begin(), request.env.end(),
                                 [&](const EnvVar& var) { return var.name == name; });
    const bool passed =
        std::any_of(request.env_pass.begin(), request.env_pass.end(),
                    [&](const std::string& pattern) { return glob_matches(pattern, name); });
    const bool secret =
        std::ranges::find(request.secrets, name, &Secret::variable) != request.secrets.end();
    if (passed && !set && !secret) all.emplace_back(entry);
  }
  return all;
}

}  // namespace request
}  // namespace cordon
