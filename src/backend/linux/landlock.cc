#include "backend/linux/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "backend/linux/kernel_abi.h"

namespace cordon::linux_backend {
namespace {

using plan::View;

constexpr std::uint64_t kRead = abi::kFsExecute | abi::kFsReadFile | abi::kFsReadDir;

std::uint64_t all_rights(int version) {
  std::uint64_t rights = abi::kFsAllOfAbi1;
  if (version >= 2) rights |= abi::kFsRefer;
  if (version >= 3) rights |= abi::kFsTruncate;
  if (version >= 5) rights |= abi::kFsIoctlDev;
  if (version >= 9) rights |= abi::kFsResolveUnix;
  return rights;
}

std::size_t attribute_size(int version) {
  if (version >= 6) return sizeof(abi::LandlockRulesetAttr);
  if (version >= 4) return offsetof(abi::LandlockRulesetAttr, scoped);
  return offsetof(abi::LandlockRulesetAttr, handled_access_net);
}

// What a writable place may be used for: not for device files, which cannot be made anyway.
std::uint64_t rights_below(const View& view, std::uint64_t all) {
  if (view.kind == View::Kind::proc) return all & (kRead | abi::kFsWriteFile | abi::kFsTruncate);
  std::uint64_t rights = all & ~abi::kFsIoctlDev;
  if (view.granted) rights &= ~abi::kFsResolveUnix;
  return rights;
}

bool is_device(const View& view) {
  return view.kind == View::Kind::device || view.kind == View::Kind::devpts;
}

}  // namespace

void restrict_by_landlock(ScriptBuilder& script, int version, const std::vector<OpenView>& views,
                          Network network) {
  if (version == 0) return;
  const std::uint64_t all = all_rights(version);
  abi::LandlockRulesetAttr attributes{};
  attributes.handled_access_fs = all;
  if (network == Network::none) {
    attributes.handled_access_net = abi::kNetBindTcp | abi::kNetConnectTcp;
  }
  attributes.scoped = abi::kScopeAbstractUnixSocket | abi::kScopeSignal;
  if (version < 4) attributes.handled_access_net = 0;

  script.about("landlock", "ABI " + std::to_string(version));
  const Register ruleset = script.call_into(
      __NR_landlock_create_ruleset, {script.object(attributes), attribute_size(version), 0});

  const auto allow = [&](const std::string& path, std::uint64_t rights) {
    script.about("landlock", path);
    const Register opened =
        script.call_into(__NR_openat, {AT_FDCWD, script.text(path), O_PATH | O_CLOEXEC, 0});
    const abi::LandlockPathBeneathAttr rule{.allowed_access = rights, .parent_fd = -1};
    const std::uint64_t at = script.object(rule);
    script.op(spawner::Op::store, {at + offsetof(abi::LandlockPathBeneathAttr, parent_fd), opened});
    script.call(__NR_landlock_add_rule, {ruleset, abi::kLandlockRulePathBeneath, at, 0});
    script.close(opened);
  };
  allow("/", all & kRead);
  // One rule for all devices: nothing can be made beside them, and what is granted there has none.
  if (std::ranges::any_of(views, [](const OpenView& open) { return is_device(open.view); })) {
    allow("/dev", all & (abi::kFsReadFile | abi::kFsReadDir | abi::kFsWriteFile | abi::kFsTruncate |
                         abi::kFsIoctlDev));
  }
  for (const OpenView& open : views) {
    if (is_device(open.view)) continue;
    if (!open.view.writable && open.view.kind != View::Kind::proc) continue;
    std::uint64_t rights = rights_below(open.view, all);
    if (open.view.kind == View::Kind::bind && !open.directory) {
      rights &= abi::kFsExecute | abi::kFsReadFile | abi::kFsWriteFile | abi::kFsTruncate |
                abi::kFsIoctlDev;
    }
    allow(open.view.target, rights);
  }
  script.about("landlock", "restrict");
  script.call(__NR_landlock_restrict_self, {ruleset, 0});
  script.close(ruleset);
}

}  // namespace cordon::linux_backend
