// Whole plans as `cordon plan` prints them. A change here is a change of what programs get.
#include <gtest/gtest.h>

#include <chrono>

#include "plan/testing.h"

namespace cordon::plan {
namespace {

using namespace plan::testing;
using namespace std::chrono_literals;

std::string text_of(const Request& asked, const Limits& limits, const Caller& caller,
                    const HostCapabilities& host) {
  const auto plan = make_sandbox_plan(asked, limits, caller, host);
  if (!plan) return plan.error().message;
  const Plan described = describe(*plan);
  EXPECT_EQ(described.backend, "linux");
  EXPECT_EQ(described.enforcement.filesystem.by, plan->enforcement.filesystem.by);
  std::string text = "\n";
  for (const PlanStep& step : described.steps) text += step.name + "  " + step.detail + "\n";
  return text;
}

// What every plan shows of the system …
constexpr const char* kSystem = R"(mount  /, empty, read-only
mount  /usr, read-only, if present
mount  /bin, read-only, if present
mount  /sbin, read-only, if present
mount  /lib, read-only, if present
mount  /lib32, read-only, if present
mount  /lib64, read-only, if present
mount  /libx32, read-only, if present
mount  /etc/ld.so.cache, read-only, if present
mount  /etc/ld.so.conf, read-only, if present
mount  /etc/ld.so.conf.d, read-only, if present
mount  /etc/alternatives, read-only, if present
mount  /etc/localtime, read-only, if present
mount  /etc/locale.alias, read-only, if present
mount  /etc/nsswitch.conf, read-only, if present
mount  /etc/os-release, read-only, if present
mount  /etc/services, read-only, if present
mount  /etc/protocols, read-only, if present
mount  /etc/mime.types, read-only, if present
mount  /etc/ssl/certs, read-only, if present
mount  /etc/ssl/openssl.cnf, read-only, if present
mount  /etc/pki/tls/certs, read-only, if present
mount  /etc/pki/ca-trust/extracted, read-only, if present
mount  /etc/java-11-openjdk, read-only, if present
mount  /etc/java-17-openjdk, read-only, if present
mount  /etc/java-21-openjdk, read-only, if present
mount  /etc/java-25-openjdk, read-only, if present
mount  /etc/passwd, made for the sandbox, read-only
mount  /etc/group, made for the sandbox, read-only
)";
// … and of devices.
constexpr const char* kDevices = R"(mount  /dev, tmpfs of 64K, read-only
mount  /dev/null, device
mount  /dev/zero, device
mount  /dev/full, device
mount  /dev/random, device
mount  /dev/urandom, device
mount  /dev/tty, device
mount  /dev/fd, symlink to /proc/self/fd
mount  /dev/stdin, symlink to /proc/self/fd/0
mount  /dev/stdout, symlink to /proc/self/fd/1
mount  /dev/stderr, symlink to /proc/self/fd/2
mount  /dev/ptmx, symlink to pts/ptmx
mount  /var/tmp, symlink to /tmp
mount  /dev/pts, terminals of its own
)";

TEST(DescribeTest, RootWithCgroupV1) {
  EXPECT_EQ(text_of(request({Grant::write("/data/out"), Grant::tmpfs("/scratch", 1 << 20)}),
                    usual_limits(), root(), root_host()),
            std::string(R"(
namespace  user, mount, pid, ipc, uts, cgroup, network
identity  uid 1000, gid 1000 inside; outside an unprivileged uid of its own
network  none: no interface is up
group  cgroup v1, below /cordon
group  memory.limit_in_bytes 536870912
group  pids.max 129
group  cpu.cfs_quota_us 100000
)") + kSystem + R"(mount  /etc/hosts, made for the sandbox, read-only
)" + kDevices + R"(mount  /dev/shm, tmpfs of 64M, writable
mount  /tmp, tmpfs of 64M, writable
mount  /proc, the sandbox's processes
mount  /scratch, tmpfs of 1M, writable, granted
mount  /data/out, writable, granted
mount  /srv/work, read-only, granted
cwd  /srv/work
limit  open files 1024
limit  core dumps 0
capabilities  none
no_new_privs  set
landlock  ABI 7, every right it has
seccomp  allowlist
verify  all of this, from outside
execute  the program
)");
}

TEST(DescribeTest, UserWithoutGroups) {
  EXPECT_EQ(text_of(request(), usual_limits(), user(), user_host()), std::string(R"(
namespace  user, mount, pid, ipc, uts, cgroup, network
identity  uid 1001, gid 1002 inside; outside uid 1001, gid 1002
network  none: no interface is up
)") + kSystem + R"(mount  /etc/hosts, made for the sandbox, read-only
)" + kDevices + R"(mount  /dev/shm, tmpfs of 64M, writable
mount  /tmp, tmpfs of 64M, writable
mount  /proc, the sandbox's processes
mount  /home/ann/work, read-only, granted
cwd  /home/ann/work
limit  open files 1024
limit  processes 129
limit  memory 512M, sampled
limit  core dumps 0
capabilities  none
no_new_privs  set
landlock  ABI 7, every right it has
seccomp  allowlist
verify  all of this, from outside
execute  the program
)");
}

TEST(DescribeTest, UserWithDelegatedCgroupV2AndTheHostsNetwork) {
  Request asked = request({Grant::read("/home/ann"), Grant::write("/home/ann/work/out"),
                           Grant::bind("/opt/data", "/data", Grant::Kind::read)});
  asked.network = Network::host;
  const Limits limits{.cpu_time = 1500ms,
                      .cpu_millicores = 500,
                      .memory_bytes = 1000,
                      .file_size_bytes = 1 << 20,
                      .processes = 1,
                      .output_bytes = 0};
  EXPECT_EQ(text_of(asked, limits, user(), with_groups(user_host(), CgroupVersion::v2)),
            std::string(R"(
namespace  user, mount, pid, ipc, uts, cgroup
identity  uid 1001, gid 1002 inside; outside uid 1001, gid 1002
network  the caller's
group  cgroup v2, below /cordon
group  memory.max 1000
group  pids.max 2
group  cpu.max 50000 100000
group  processor time read from the group
)") + kSystem + R"(mount  /etc/hosts, read-only, if present
mount  /etc/resolv.conf, read-only, if present
)" + kDevices + R"(mount  /dev/shm, tmpfs of 1000, writable
mount  /tmp, tmpfs of 1000, writable
mount  /proc, the sandbox's processes
mount  /data from /opt/data, read-only, granted
mount  /home/ann, read-only, granted
mount  /home/ann/work/out, writable, granted
cwd  /home/ann/work
limit  file size 1M
limit  processor time 1500ms
limit  output 0
limit  core dumps 0
capabilities  none
no_new_privs  set
landlock  ABI 7, every right it has
seccomp  allowlist
verify  all of this, from outside
execute  the program
)");
}

TEST(DescribeTest, RootInAContainerWithoutCapabilities) {
  Request asked = request();
  asked.network = Network::loopback;
  asked.unix_sockets = false;
  asked.cwd = "/usr/share";
  EXPECT_EQ(text_of(asked, usual_limits(), root(), container_host()), std::string(R"(
namespace  user, mount, pid, ipc, uts, cgroup, network
identity  uid 1000, gid 1000 inside; outside uid 0, gid 0
network  a loopback of its own
)") + kSystem + R"(mount  /etc/hosts, made for the sandbox, read-only
)" + kDevices + R"(mount  /dev/shm, tmpfs of 64M, writable
mount  /tmp, tmpfs of 64M, writable
mount  /proc, the sandbox's processes
cwd  /usr/share
limit  open files 1024
limit  memory 512M, sampled
limit  processes 128, sampled
limit  core dumps 0
capabilities  none
no_new_privs  set
landlock  not there
seccomp  allowlist, of unix sockets only socketpair
verify  all of this, from outside
execute  the program
)");
}

}  // namespace
}  // namespace cordon::plan
