#include "peers/bundle.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "support/figure.h"

namespace cordon::bench {
namespace {

// The namespaces and limits of `cordon run`, as far as the format has them.
constexpr std::string_view kConfig = R"({
  "ociVersion": "1.0.2",
  "process": {
    "terminal": false,
    "user": {"uid": 1000, "gid": 1000},
    "args": ["/program"],
    "env": ["PATH=/usr/bin:/bin"],
    "cwd": "/",
    "capabilities": {},
    "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
    "noNewPrivileges": true
  },
  "root": {"path": "rootfs", "readonly": true},
  "hostname": "bench",
  "mounts": [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
     "options": ["nosuid", "mode=755", "size=64k"]},
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
     "options": ["nosuid", "nodev", "size=64m"]}
  ],
  "linux": {
    "namespaces": [{"type": "user"}, {"type": "pid"}, {"type": "network"}, {"type": "ipc"},
                   {"type": "uts"}, {"type": "mount"}, {"type": "cgroup"}],
    "uidMappings": [{"containerID": 0, "hostID": 200000, "size": 65536}],
    "gidMappings": [{"containerID": 0, "hostID": 200000, "size": 65536}],
    "resources": {
      "memory": {"limit": 536870912},
      "pids": {"limit": 128},
      "cpu": {"quota": 100000, "period": 100000}
    },
    "seccomp": {
      "defaultAction": "SCMP_ACT_ALLOW",
      "syscalls": [{
        "names": ["bpf", "finit_module", "init_module", "kexec_load", "keyctl", "mount", "ptrace",
                  "reboot", "setns", "umount2", "unshare"],
        "action": "SCMP_ACT_ERRNO"
      }]
    }
  }
}
)";

}  // namespace

Bundle::Bundle(const std::string& program) {
  namespace fs = std::filesystem;
  std::string name = "/tmp/cordon-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) give_up("cannot make a folder in /tmp");
  folder_ = name;
  std::error_code error;
  for (const char* inside : {"rootfs", "rootfs/proc", "rootfs/dev", "rootfs/tmp"}) {
    fs::create_directory(fs::path(folder_) / inside, error);
  }
  // The mapped user has to get to its root.
  fs::permissions(folder_, fs::perms(0755), error);
  fs::copy_file(program, folder_ + "/rootfs/program", error);
  std::ofstream config(folder_ + "/config.json");
  config << kConfig;
  if (error || !config.flush()) give_up("cannot fill " + folder_);
}

Bundle::~Bundle() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Bundle::state(const std::string& runtime) const {
  return folder_ + "/state-" + runtime;
}

std::string Bundle::container(const std::string& runtime) const {
  return "cordon-bench-" + runtime + "-" + std::to_string(::getpid());
}

}  // namespace cordon::bench
