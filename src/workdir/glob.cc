#include "workdir/glob.h"

#include <fnmatch.h>

#include <algorithm>
#include <span>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::workdir {
namespace {

using Parts = std::span<const std::string>;

bool is_any_depth(const std::string& part) { return part == "**"; }

bool part_matches(const std::string& part, const std::string& name) {
  if (is_any_depth(part)) return !name.starts_with('.');
  return ::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

// How far into the pattern one can be after these names, for every way to read it: no backtracking.
std::vector<bool> reached(Parts parts, Parts path) {
  std::vector<bool> at(parts.size() + 1, false);
  at[0] = true;
  const auto skip_any_depth = [&] {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (at[i] && is_any_depth(parts[i])) at[i + 1] = true;
    }
  };
  skip_any_depth();
  for (const std::string& name : path) {
    std::vector<bool> next(parts.size() + 1, false);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!at[i] || !part_matches(parts[i], name)) continue;
      next[is_any_depth(parts[i]) ? i : i + 1] = true;
    }
    at = std::move(next);
    skip_any_depth();
  }
  return at;
}

std::unexpected<Error> bad(std::string_view pattern, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, "collect",
                    "\"" + base::printable(pattern) + "\" " + std::string(why));
}

}  // namespace

Result<Glob> Glob::parse(std::string_view pattern) {
  if (pattern.empty()) return bad(pattern, "names no file");
  if (pattern.find('\0') != std::string_view::npos) return bad(pattern, "contains a NUL byte");
  if (pattern.starts_with('/')) {
    return bad(pattern, "is absolute: write it relative to the work directory");
  }
  Glob glob;
  for (std::size_t begin = 0; begin < pattern.size();) {
    const std::size_t end = std::min(pattern.find('/', begin), pattern.size());
    const std::string_view part = pattern.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return bad(pattern, "contains \"..\": only the work directory is collected");
    glob.parts_.emplace_back(part);
  }
  if (glob.parts_.empty()) return bad(pattern, "names no file");
  // "out/**" is everything below out.
  if (is_any_depth(glob.parts_.back())) glob.parts_.emplace_back("*");
  return glob;
}

bool Glob::matches(const std::vector<std::string>& path) const {
  return reached(parts_, path).back();
}

bool Glob::leads_into(const std::vector<std::string>& path) const {
  const auto at = reached(parts_, path);
  return std::find(at.begin(), at.end() - 1, true) != at.end() - 1;
}

}  // namespace cordon::workdir
