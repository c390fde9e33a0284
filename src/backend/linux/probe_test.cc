// The probe's parsers and judgements, from texts; and that it leaves nothing behind.
#include "backend/linux/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

#include "backend/linux/probe_container.h"
#include "backend/linux/probe_files.h"
#include "backend/linux/probe_namespaces.h"

namespace cordon::linux_backend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProbeFiles, EffectiveCapabilitiesAreReadFromStatus) {
  EXPECT_EQ(effective_capabilities("Name:\tx\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t1\n"),
            0x1ffffffffffU);
  EXPECT_EQ(effective_capabilities("Name:\tCapEff:\n"), 0U);
  EXPECT_EQ(effective_capabilities(""), 0U);
}

TEST(ProbeFiles, IdsOfAllLinesAreCounted) {
  EXPECT_EQ(ids_mapped("         0          0 4294967295\n"), 4294967295U);
  EXPECT_EQ(ids_mapped("0 1000 1\n1 100000 65536\n"), 65537U);
  EXPECT_EQ(ids_mapped(""), 0U);
}

TEST(ProbeFiles, MasksOfProcAreFoundInMountinfo) {
  EXPECT_THAT(mounts_below_proc("22 1 0:5 / /proc rw - proc proc rw\n"
                                "23 22 0:6 / /proc/acpi ro - tmpfs tmpfs ro\n"
                                "26 22 0:9 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n"
                                "24 1 0:7 / /procession rw - tmpfs tmpfs rw\n"
                                "25 22 0:5 /kcore /proc/kcore rw - tmpfs tmpfs rw\n"),
              ElementsAre("/proc/acpi", "/proc/kcore"));
  EXPECT_THAT(mounts_below_proc("22 1 0:5 / /proc rw - proc proc rw"), IsEmpty());
}

TEST(ProbeFiles, TypeOfAMountIsFoundByItsId) {
  constexpr auto kMounts =
      "2 1 0:5 / /proc rw - proc proc rw\n"
      "22 1 8:1 / /a rw,nosuid shared:1 master:2 - ext4 /dev/sda1 rw\n"
      "23 1 0:30 / /b rw - virtiofs host rw";
  EXPECT_EQ(file_system_of_mount(kMounts, 22), "ext4");
  EXPECT_EQ(file_system_of_mount(kMounts, 23), "virtiofs");
  EXPECT_EQ(file_system_of_mount(kMounts, 3), "");
  EXPECT_EQ(file_system_of_mount("22 1 8:1 / /a rw", 22), "");
}

TEST(ProbeContainer, IsNamedByItsMostTellingTrace) {
  EXPECT_EQ(container_kind({}), "");
  EXPECT_EQ(container_kind({.cgroups = "0::/user.slice/session-1.scope\n"}), "");
  EXPECT_EQ(container_kind({.dockerenv = true}), "docker");
  EXPECT_EQ(container_kind({.cgroups = "4:memory:/docker/abc\n"}), "docker");
  EXPECT_EQ(container_kind({.containerenv = true, .init_container = "oci"}), "podman");
  EXPECT_EQ(container_kind({.dockerenv = true, .kubernetes = true}), "kubernetes");
  EXPECT_EQ(container_kind({.cgroups = "0::/kubepods.slice/x\n"}), "kubernetes");
  EXPECT_EQ(container_kind({.init_container = "lxc"}), "lxc");
  EXPECT_EQ(container_kind({.init_container = "systemd-nspawn"}), "unknown");
}

plan::HostCapabilities judged(const NamespaceTrial& trial, const NamespaceFacts& facts) {
  plan::HostCapabilities host;
  judge_namespaces(trial, facts, host);
  return host;
}

TEST(ProbeNamespaces, WhatWorkedWorks) {
  const auto host = judged({}, {});
  EXPECT_TRUE(host.user_namespace.works);
  EXPECT_TRUE(host.mount_namespace.works);
  EXPECT_TRUE(host.pid_namespace.works);
  EXPECT_TRUE(host.network_namespace.works);
  EXPECT_TRUE(host.proc_mount.works);
}

TEST(ProbeNamespaces, SwitchedOffBySysctlSaysWhichOne) {
  const auto none_left = judged({.clone = ENOSPC}, {.max_user_namespaces = 0});
  EXPECT_FALSE(none_left.user_namespace.works);
  EXPECT_THAT(none_left.user_namespace.why, HasSubstr("max_user_namespaces is 0"));
  EXPECT_THAT(none_left.user_namespace.fix, HasSubstr("sysctl -w user.max_user_namespaces="));
  EXPECT_FALSE(none_left.proc_mount.works);

  const auto debian = judged({.clone = EPERM}, {.unprivileged_userns_clone = 0});
  EXPECT_EQ(debian.user_namespace.fix, "sysctl -w kernel.unprivileged_userns_clone=1");
}

TEST(ProbeNamespaces, ContainersAreFixedWhereTheyAreStarted) {
  const auto docker = judged({.clone = EPERM}, {.container = "docker"});
  EXPECT_THAT(docker.user_namespace.fix, HasSubstr("docker run --security-opt seccomp="));
  const auto pod = judged({.clone = EPERM}, {.container = "kubernetes"});
  EXPECT_THAT(pod.user_namespace.fix, HasSubstr("seccompProfile"));
  const auto masked =
      judged({.proc = EPERM}, {.container = "podman", .masks_of_proc = {"/proc/acpi"}});
  EXPECT_TRUE(masked.mount_namespace.works);
  EXPECT_FALSE(masked.proc_mount.works);
  EXPECT_THAT(masked.proc_mount.why, HasSubstr("/proc/acpi"));
  EXPECT_THAT(masked.proc_mount.fix, HasSubstr("systempaths=unconfined"));
}

TEST(ProbeNamespaces, AppArmorIsFoundBehindAFailedMount) {
  const auto host = judged({.mount = EACCES}, {.apparmor_restrict = 1});
  EXPECT_TRUE(host.user_namespace.works);
  EXPECT_FALSE(host.mount_namespace.works);
  EXPECT_THAT(host.mount_namespace.why, HasSubstr("AppArmor"));
  EXPECT_THAT(host.mount_namespace.fix, HasSubstr("apparmor_restrict_unprivileged_userns=0"));
  EXPECT_FALSE(host.proc_mount.works);
}

TEST(ProbeNamespaces, OnlyTheNetworkMayBeMissing) {
  const auto host = judged({.network = ENOSPC}, {.max_net_namespaces = 0});
  EXPECT_TRUE(host.user_namespace.works);
  EXPECT_FALSE(host.network_namespace.works);
  EXPECT_THAT(host.network_namespace.fix, HasSubstr("max_net_namespaces"));
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Probe, LeavesNoChildAndNoDescriptorAndStaysDumpable) {
  const std::size_t before = open_descriptors();
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  const Error why{.code = ErrorCode::unsupported, .message = "no groups here"};
  for (const ProbeDepth depth : {ProbeDepth::quick, ProbeDepth::thorough}) {
    const auto host = probe_host(nullptr, &why, depth, read_small_file("/proc/self/mountinfo"));
    EXPECT_FALSE(host.kernel.empty());
    EXPECT_EQ(host.cgroup, plan::CgroupVersion::none);
    EXPECT_EQ(host.cgroup_memory.why, "no groups here");
    EXPECT_EQ(host.container, !host.container_kind.empty());
    for (const plan::Feature* const feature :
         {&host.user_namespace, &host.mount_namespace, &host.pid_namespace, &host.network_namespace,
          &host.proc_mount, &host.seccomp}) {
      EXPECT_EQ(feature->works, feature->why.empty()) << feature->why;
    }
    EXPECT_EQ(host.landlock_abi > 0, host.landlock_why.empty());
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), dumpable);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace cordon::linux_backend
