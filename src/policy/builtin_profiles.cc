#include "policy/builtin_profiles.h"

#include <algorithm>
#include <array>

#include "policy/document.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kMcp =
    R"(# For MCP servers: other people's programs with your credentials. There is no network unless
# --net grants one, and no file of yours but what --read and --write grant.

backends = ["linux", "gvisor"]  # those that isolate

# What `cordon mcp` gives every server, with or without this profile, if nobody asks for another.
[defaults]
timeout = "none"  # a server lives as long as its client
workdir = true    # a private directory, which goes with the run
cpu = "2"         # what runtimes such as Node need to start as fast as anywhere

# Of your variables these; a server's own are set by --env NAME=VALUE, its keys given by --secret.
[env]
pass = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_*", "TERM", "TZ", "TMPDIR"]
allow_dangerous = []

# Never these, nor a directory that they are in, whatever is granted.
[paths]
deny = [
  "~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.kube",
  "~/.docker", "~/.netrc", "~/.git-credentials", "~/.npmrc", "~/.pypirc", "~/.password-store",
  "/etc/shadow", "/etc/gshadow",
]
)";

constexpr std::array<BuiltinProfile, 1> kProfiles = {
    {{.name = "mcp", .place = "built-in profile mcp", .text = kMcp}}};

}  // namespace

std::span<const BuiltinProfile> builtin_profiles() { return kProfiles; }

const BuiltinProfile* find_builtin_profile(std::string_view name) {
  const auto at = std::ranges::find(kProfiles, name, &BuiltinProfile::name);
  return at == kProfiles.end() ? nullptr : &*at;
}

LimitValues mcp_defaults() {
  const BuiltinProfile& profile = kProfiles.front();
  // Paths are of no interest here, so any home will do.
  const auto read = read_document(profile.text, std::string(profile.place), {.home = "/"});
  return read ? read->ceiling.defaults : LimitValues{};
}

}  // namespace cordon::policy
