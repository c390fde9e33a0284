// A directory as the program's root, made by somebody who wants to get out of it. What is stopped
// in a sandbox is seen to succeed without one, at the end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cordon/manager.h"
#include "cordon/run.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::escape {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShell = "/bin/busybox";  // needs no library

class Rootfs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(kShell)) CORDON_SKIP_WITHOUT("linux", "busybox-static is not installed");
    auto made = gvisor() ? gvisor_manager() : sandboxed() ? linux_manager() : posix_manager();
    if (!made) CORDON_SKIP_WITHOUT(GetParam(), made.error().message);
    manager_ = *std::move(made);
    char name[] = "/tmp/cordon-rootfs-XXXXXX";
    top_ = fs::canonical(::mkdtemp(name)).string();
    fs::permissions(top_, fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
    fs::create_directories(top_ + "/root/bin");
    fs::create_directories(top_ + "/outside");
    write("/outside/secret", "secret\n");
    fs::copy_file(kShell, top_ + "/root/bin/busybox");
    for (const char* const tool : {"sh", "cat", "ls", "touch", "readlink", "id", "mknod"}) {
      fs::create_symlink("busybox", top_ + "/root/bin/" + tool);
    }
  }
  void TearDown() override {
    manager_.reset();
    if (!top_.empty()) fs::remove_all(top_);
  }

  [[nodiscard]] static bool gvisor() { return std::string(GetParam()) == "gvisor"; }
  [[nodiscard]] static bool sandboxed() { return std::string(GetParam()) != "posix"; }
  [[nodiscard]] std::string root(const std::string& inside = {}) const {
    return top_ + "/root" + inside;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(top_ + name) << text;
  }
  [[nodiscard]] Request script(const std::string& text) const {
    Request request{.program = "/bin/sh", .args = {"-c", text}};
    request.root = root();
    request.timeout = 20s;
    request.env_pass.clear();
    request.env = {{"PATH", "/bin"}};
    return request;
  }
  [[nodiscard]] Outcome sh(const std::string& text) { return run(*manager_, script(text)); }
  // Not busybox: that gives up what it has gained.
  void make_setuid() const {
    fs::copy_file(CORDON_TEST_PROGRAMS_DIR "/attack", root("/bin/becomes"));
    ASSERT_EQ(::chmod(root("/bin/becomes").c_str(), 06755), 0);
  }
  void expect_refused(const Request& request, std::string_view why) {
    const Outcome outcome = run(*manager_, request);
    EXPECT_EQ(outcome.verdict, Verdict::failed_to_start) << outcome.out;
    ASSERT_TRUE(outcome.error);
    EXPECT_THAT(outcome.error->message, HasSubstr(why));
  }

  std::string top_;
  std::unique_ptr<Manager> manager_;
};

INSTANTIATE_TEST_SUITE_P(On, Rootfs, testing::Values("linux", "gvisor"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Rootfs, IsAllThatTheProgramSees) {
  fs::create_directory(root("/etc"));
  write("/root/etc/motd", "of the root\n");
  const Outcome outcome = sh("cat /etc/motd; ls /; cat /etc/os-release; ls " + top_);
  EXPECT_FALSE(outcome.error) << outcome.error->message;
  const std::string sys = gvisor() ? "sys\n" : "";  // gVisor's own
  EXPECT_EQ(outcome.out, "of the root\nbin\ndev\netc\nproc\n" + sys + "tmp\nvar\n") << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("/etc/os-release"));
}

TEST_P(Rootfs, ProgramIsFoundInItAndNotOnTheHost) {
  Request request = script("");
  request.program = "id";
  request.args = {};
  EXPECT_EQ(run(*manager_, request).exit_code, 0);
  for (const char* const name : {"python3", "/usr/bin/env", "/bin/bash"}) {
    request.program = name;
    const Outcome outcome = run(*manager_, request);
    ASSERT_TRUE(outcome.error) << name << outcome.out;
    EXPECT_EQ(outcome.error->code, ErrorCode::not_found) << outcome.error->message;
  }
}

TEST_P(Rootfs, NothingInItCanBeChanged) {
  fs::create_directory(root("/data"));
  fs::permissions(root("/data"), fs::perms::all);
  const Outcome outcome = sh("touch /data/x /bin/x /x; touch /tmp/ok && echo ok");
  EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  EXPECT_FALSE(fs::exists(root("/data/x")));
  EXPECT_FALSE(fs::exists(root("/x")));
  EXPECT_FALSE(fs::exists(root("/tmp")));
}

TEST_P(Rootfs, PlacesOfTheSandboxAreItsOwnWhateverTheRootHasThere) {
  fs::create_symlink("/etc", root("/proc"));
  fs::create_symlink(top_ + "/outside", root("/dev"));
  fs::create_symlink("../../../../../../../../" + top_ + "/outside", root("/tmp"));
  fs::create_symlink("/", root("/sys"));
  const Outcome outcome =
      sh("cat /proc/self/comm; test -c /dev/null && echo device; touch /tmp/mine && echo mine; "
         "cat /dev/secret /tmp/secret /proc/passwd /sys/etc/passwd");
  EXPECT_EQ(outcome.out, "cat\ndevice\nmine\n")
      << outcome.err << (outcome.error ? outcome.error->message : "");
  EXPECT_FALSE(fs::exists(top_ + "/outside/mine"));
}

TEST_P(Rootfs, LinksOfItLeadToPlacesInside) {
  fs::create_symlink(top_ + "/outside/secret", root("/absolute"));
  fs::create_symlink("../../../../.." + top_ + "/outside/secret", root("/up"));
  fs::create_symlink("/proc/self/root" + top_ + "/outside/secret", root("/magic"));
  fs::create_symlink("/proc/1/root" + top_ + "/outside/secret", root("/init"));
  fs::create_directory(root("/deep"));
  fs::create_symlink("../.." + top_ + "/outside", root("/deep/up"));
  const Outcome outcome = sh("cat /absolute /up /magic /init /deep/up/secret");
  EXPECT_EQ(outcome.out, "") << outcome.err;
  EXPECT_NE(outcome.exit_code, 0);
}

TEST_P(Rootfs, NothingIsMadeOnTheHostWhenALinkIsWhereAGrantShouldBe) {
  fs::create_symlink(top_ + "/outside", root("/srv"));
  Request request = script("true");
  request.grants = {Grant::tmpfs("/srv/place")};
  expect_refused(request, "symbolic link");
  fs::create_symlink(top_ + "/outside", root("/var"));
  EXPECT_EQ(sh("true").exit_code, 0);  // /var/tmp is not made through it
  EXPECT_EQ(std::distance(fs::directory_iterator(top_ + "/outside"), {}), 1);
}

TEST_P(Rootfs, GrantsAreShownAtPlacesThatItDoesNotHave) {
  fs::create_directories(root("/home/other"));
  write("/root/home/note", "note\n");
  Request request = script("cat /home/ann/work/secret /new/secret /home/note; ls /home");
  request.grants = {Grant::bind(top_ + "/outside", "/home/ann/work", Grant::Kind::read),
                    Grant::bind(top_ + "/outside", "/new", Grant::Kind::read)};
  request.cwd = "/home/ann";
  const Outcome outcome = run(*manager_, request);
  EXPECT_EQ(outcome.out, "secret\nsecret\nnote\nann\nnote\nother\n")
      << outcome.err << (outcome.error ? outcome.error->message : "");
  EXPECT_FALSE(fs::exists(root("/home/ann")));
}

TEST_P(Rootfs, WhatIsNoRootIsRefused) {
  Request request = script("true");
  request.root = "/";
  expect_refused(request, "root");
  for (const char* const own : {"/proc", "/proc/self/root", "/sys", "/dev"}) {
    request.root = own;
    EXPECT_TRUE(run(*manager_, request).error) << own;
  }
  request.root = root("/bin/busybox");
  expect_refused(request, "not a directory");
  request.root = root("/absent");
  expect_refused(request, "absent");
  request.root = "relative";
  expect_refused(request, "absolute");
  request.root = "/run/cordon";
  EXPECT_TRUE(run(*manager_, request).error);
  fs::create_symlink("/", root("/all"));
  request.root = root("/all");
  expect_refused(request, "root");
}

TEST_P(Rootfs, WorkingDirectoryIsAPlaceInIt) {
  fs::create_directory(root("/work"));
  Request request = script("readlink /proc/self/cwd");
  request.cwd = "/work";
  EXPECT_EQ(run(*manager_, request).out, "/work\n");
  request.cwd = "/usr";  // the host has it
  expect_refused(request, "working directory");
  request.cwd = "";
  EXPECT_EQ(run(*manager_, request).out, "/\n");
}

TEST_P(Rootfs, SetuidFilesOfItChangeNobody) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "a setuid file of another user");
  make_setuid();
  EXPECT_THAT(sh("/bin/becomes is-root").out, HasSubstr("stopped"));
}

TEST_P(Rootfs, DeviceFilesOfItOpenNothing) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can make a device file");
  fs::create_directory(root("/data"));
  if (::mknod(root("/data/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    CORDON_SKIP_WITHOUT("root", "no device file can be made here");
  }
  ASSERT_EQ(::chmod(root("/data/null").c_str(), 0666), 0);
  const Outcome outcome = sh("cat /data/null && echo opened");
  if (!gvisor()) {
    EXPECT_EQ(outcome.out, "") << "a device of a root was opened";
  }
}

TEST_P(Rootfs, IsSeenInThePlan) {
  const auto plan = manager_->plan(script("true"));
  ASSERT_TRUE(plan) << plan.error().message;
  const auto step = std::ranges::find(plan->steps, "root", &PlanStep::name);
  ASSERT_NE(step, plan->steps.end());
  EXPECT_THAT(step->detail, HasSubstr(root()));
  for (const PlanStep& one : plan->steps) EXPECT_THAT(one.detail, Not(HasSubstr("/usr")));
}

// While it is set up, somebody puts links in the places of its directories. Whatever comes of it:
// nothing of outside is seen.
TEST_P(Rootfs, DirectoriesThatAreSwappedForLinksDuringSetUpShowNothing) {
  if (gvisor() && ::geteuid() != 0) {
    CORDON_SKIP_WITHOUT("root", "an ordinary user's runsc opens what it mounts by name");
  }
  fs::create_directory(root("/data"));
  write("/root/data/secret", "harmless\n");
  fs::create_symlink(top_ + "/outside", top_ + "/link");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      (void)::renameat2(AT_FDCWD, (top_ + "/link").c_str(), AT_FDCWD, root("/data").c_str(),
                        RENAME_EXCHANGE);
    }
  });
  const int runs = gvisor() ? 15 : 60;
  for (int i = 0; i < runs; ++i) {
    const Outcome outcome = sh("cat /data/secret");
    EXPECT_THAT(outcome.out, AnyOf("harmless\n", "")) << "reached what is outside";
  }
  stop = true;
  swapper.join();
}

// The same attacks, outside of any sandbox. (The last one: tests/gvisor/swap_test.cc.)
class RootfsWithoutASandbox : public Rootfs {
 protected:
  [[nodiscard]] Outcome outside(Request request) {
    request.timeout = 20s;
    request.cwd = root();
    request.env_pass.clear();
    request.env = {{"PATH", root("/bin")}};
    return run(*manager_, request);
  }
  [[nodiscard]] Outcome outside(const std::string& text) {
    return outside(Request{.program = root("/bin/sh"), .args = {"-c", text}});
  }
};

INSTANTIATE_TEST_SUITE_P(On, RootfsWithoutASandbox, testing::Values("posix"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(RootfsWithoutASandbox, ItCanBeChanged) {
  fs::create_directory(root("/data"));
  EXPECT_EQ(outside("touch data/x").exit_code, 0);
  EXPECT_TRUE(fs::exists(root("/data/x")));
}

TEST_P(RootfsWithoutASandbox, ItsLinksLeadOutside) {
  fs::create_symlink(top_ + "/outside/secret", root("/absolute"));
  fs::create_symlink("../../../../.." + top_ + "/outside/secret", root("/up"));
  fs::create_symlink("/proc/self/root" + top_ + "/outside/secret", root("/magic"));
  fs::create_symlink(top_ + "/outside", root("/dev"));
  EXPECT_EQ(outside("cat absolute up magic dev/secret").out, "secret\nsecret\nsecret\nsecret\n");
}

TEST_P(RootfsWithoutASandbox, PlacesAreMadeThroughItsLinks) {
  fs::create_symlink(top_ + "/outside", root("/srv"));
  EXPECT_EQ(outside("busybox mkdir srv/place").exit_code, 0);
  EXPECT_TRUE(fs::exists(top_ + "/outside/place"));
}

TEST_P(RootfsWithoutASandbox, ProgramsOfTheHostAreFound) {
  EXPECT_EQ(outside(Request{.program = "/usr/bin/env"}).exit_code, 0);
}

TEST_P(RootfsWithoutASandbox, ItsSetuidFilesChangeWhoIsRunning) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "a setuid file of another user");
  make_setuid();
  const Outcome outcome = outside(
      Request{.program = "/usr/bin/setpriv",
              .args = {"--reuid=65534", "--clear-groups", root("/bin/becomes"), "is-root"}});
  EXPECT_THAT(outcome.out, HasSubstr("reached")) << outcome.err;
}

TEST_P(RootfsWithoutASandbox, ItsDeviceFilesOpen) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can make a device file");
  if (::mknod(root("/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    CORDON_SKIP_WITHOUT("root", "no device file can be made here");
  }
  EXPECT_EQ(outside("cat null && echo opened").out, "opened\n");
}

}  // namespace
}  // namespace cordon::escape
