#include "backend/linux/verify.h"

#include <set>
#include <utility>

#include "backend/linux/mountinfo_text.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

std::unexpected<Error> differs(std::string what) {
  return base::fail(
      ErrorCode::system, "verify",
      "the sandbox is not what it should be, so the program was not run: " + std::move(what));
}

// Calls `see` for each line; stops at the first error.
template <typename See>
Result<void> for_each_line(std::string_view text, See see) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (auto ok = see(text.substr(0, end)); !ok) return ok;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> all;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return all;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    all.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// The value behind "Name:", without leading blanks.
std::optional<std::string_view> field(std::string_view text, std::string_view name) {
  std::optional<std::string_view> found;
  (void)for_each_line(text, [&](std::string_view line) -> Result<void> {
    if (!found && line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      line.remove_prefix(name.size() + 1);
      found = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    return {};
  });
  return found;
}

Result<void> must_be(std::string_view text, std::string_view name, std::string_view wanted) {
  const auto value = field(text, name);
  if (value && *value == wanted) return {};
  return differs(std::string(name) + " is " + (value ? std::string(*value) : "not told") +
                 " instead of " + std::string(wanted));
}

bool has_option(std::string_view options, std::string_view wanted) {
  while (!options.empty()) {
    const std::size_t end = std::min(options.find(','), options.size());
    if (options.substr(0, end) == wanted) return true;
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return false;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// The mount that `target` is, or is part of: the longest that contains it.
const ExpectedMount* find(const std::vector<ExpectedMount>& expected, std::string_view target) {
  const ExpectedMount* best = nullptr;
  for (const ExpectedMount& mount : expected) {
    const bool same = mount.target == target;
    if (!same && !(mount.bind && is_below(target, mount.target))) continue;
    if (best == nullptr || mount.target.size() > best->target.size()) best = &mount;
  }
  return best;
}

}  // namespace

Result<void> check_status(std::string_view text, const ExpectedStatus& expected) {
  const auto four = [](std::uint32_t id) {
    const std::string one = std::to_string(id);
    return one + "\t" + one + "\t" + one + "\t" + one;
  };
  if (auto ok = must_be(text, "Uid", four(expected.uid)); !ok) return ok;
  if (auto ok = must_be(text, "Gid", four(expected.gid)); !ok) return ok;
  if (expected.no_groups) {
    const auto groups = field(text, "Groups");
    if (!groups || !words(*groups).empty()) return differs("it has supplementary groups");
  }
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (auto ok = must_be(text, set, "0000000000000000"); !ok) return ok;
  }
  if (auto ok = must_be(text, "NoNewPrivs", "1"); !ok) return ok;
  if (auto ok = must_be(text, "Seccomp", "2"); !ok) return ok;
  return must_be(text, "Seccomp_filters", std::to_string(expected.seccomp_filters));
}

Result<void> check_mounts(std::string_view text, const std::vector<ExpectedMount>& expected) {
  std::set<std::string> seen;
  auto each = for_each_line(text, [&](std::string_view line) -> Result<void> {
    const auto fields = words(line);
    constexpr std::size_t kTarget = 4;
    constexpr std::size_t kOptions = 5;
    if (fields.size() <= kOptions) return differs("a mount is described in an unknown way");
    const std::string target = unescaped_mount_path(fields[kTarget]);
    const ExpectedMount* mount = find(expected, target);
    if (mount == nullptr) return differs("something is mounted on " + target);
    if (!mount->writable && !has_option(fields[kOptions], "ro")) {
      return differs(target + " can be written to");
    }
    if (!has_option(fields[kOptions], "nosuid")) return differs(target + " honours setuid");
    seen.insert(target);
    return {};
  });
  if (!each) return each;
  for (const ExpectedMount& mount : expected) {
    if (!seen.contains(mount.target)) return differs(mount.target + " is not mounted");
  }
  return {};
}

}  // namespace cordon::linux_backend
