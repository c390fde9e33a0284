// Grants that somebody else had a hand in.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "escape/runs.h"
#include "support/must_work.h"

namespace cordon::escape {
namespace {

namespace fs = std::filesystem;

class Grants : public Sandboxed {
 protected:
  Outcome with(const Grant& grant, Words arguments) {
    Request request = request_for(bait_, std::move(arguments));
    request.grants.push_back(grant);
    return run(manager(), request);
  }
};

TEST_F(Grants, MagicLinkIsRefused) {
  const std::string magic = bait_.granted("magic");
  fs::create_symlink("/proc/self/root" + bait_.outside(), magic);
  const Outcome outcome = with(Grant::bind(magic, "/data", Grant::Kind::read), {"list", "/data"});
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start) << outcome.out;
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->os_error, ELOOP) << outcome.error->message;
}

TEST_F(Grants, OrdinaryLinkIsFollowed) {  // so that the test above tests what it says
  const std::string link = bait_.granted("ordinary");
  fs::create_symlink(bait_.outside(), link);
  EXPECT_TRUE(
      has_reached(with(Grant::bind(link, "/data", Grant::Kind::read), {"read", "/data/secret"})));
}

TEST_F(Grants, LinkToSystemDirectoryIsNotWritable) {
  const std::string link = bait_.granted("system");
  for (const char* system : {"/etc", "/usr", "/usr/bin"}) {
    fs::create_directory_symlink(system, link);
    const Outcome outcome =
        with(Grant::bind(link, "/data", Grant::Kind::write), {"may-write", "/data"});
    EXPECT_EQ(outcome.verdict, Verdict::failed_to_start) << system << ": " << outcome.out;
    fs::remove(link);
  }
}

TEST_F(Grants, LinkToSystemDirectoryDoesNotOpenRootsFiles) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  const std::string link = bait_.granted("system");
  fs::create_directory_symlink("/etc", link);
  EXPECT_FALSE(
      has_reached(with(Grant::bind(link, "/data", Grant::Kind::read), {"read", "/data/shadow"})));
}

TEST_F(Grants, WorkingDirectoryThroughALinkDoesNotOpenRootsFiles) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  const std::string link = bait_.outside("system");
  fs::create_directory_symlink("/etc", link);
  Request request = request_for(bait_, {"read", "shadow"});
  request.cwd = link;
  request.grants.push_back(Grant::read(CORDON_TEST_PROGRAMS_DIR));
  EXPECT_FALSE(has_reached(run(manager(), request)));
}

TEST_F(Grants, LinkToTheWholeRootIsRefused) {
  const std::string link = bait_.granted("root");
  fs::create_directory_symlink("/", link);
  const Outcome outcome = with(Grant::bind(link, "/data", Grant::Kind::read),
                               {"see", "/data" + bait_.outside("secret")});
  EXPECT_FALSE(has_reached(outcome));
}

TEST_F(Grants, ProcAndSysAndDevOfTheHostAreRefused) {
  for (const char* source : {"/proc", "/proc/self", "/sys", "/sys/fs/cgroup", "/dev", "/dev/mem",
                             "/", "/tmp/../proc", "/./"}) {
    const Outcome outcome =
        with(Grant::bind(source, "/data", Grant::Kind::read), {"list", "/data"});
    EXPECT_NE(outcome.verdict, Verdict::exited) << source;
  }
}

TEST_F(Grants, LinkToProcIsNotTheHostsProc) {
  const std::string link = bait_.granted("processes");
  fs::create_symlink("/proc", link);
  const Outcome outcome = with(Grant::bind(link, "/data", Grant::Kind::read),
                               {"see", "/data/" + std::to_string(bait_.victim())});
  EXPECT_FALSE(has_reached(outcome));
}

TEST_F(Grants, NothingIsMadeOnTheHostThroughALinkInAWritableGrant) {
  fs::create_directory_symlink(bait_.outside(), bait_.writable("link"));
  const Outcome outcome =
      with(Grant::bind(bait_.granted(), bait_.writable("link/new"), Grant::Kind::read),
           {"list", bait_.writable("link/new")});
  EXPECT_FALSE(has_reached(outcome));
  EXPECT_FALSE(fs::exists(bait_.outside("new")));
}

TEST_F(Grants, MountingOverALinkInAWritableGrantIsRefused) {
  fs::create_directory_symlink(bait_.outside(), bait_.writable("link"));
  const Outcome outcome =
      with(Grant::bind(bait_.granted(), bait_.writable("link"), Grant::Kind::read),
           {"read", bait_.writable("link/plain")});
  EXPECT_FALSE(has_reached(outcome));
}

// A directory and a link to /proc change places all the time, at a pace that lets some runs start.
TEST_F(Grants, SwappedWithALinkWhileItIsMountedShowsNothing) {
  const std::string first = bait_.writable("first");
  const std::string second = bait_.writable("second");
  fs::create_directory(first);
  fs::create_symlink("/proc", second);
  std::jthread swapping([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  constexpr int kRounds = 400;
  constexpr int kEnough = 40;
  int ran = 0;
  for (int i = 0; i < kRounds && ran < kEnough; ++i) {
    const Outcome outcome = with(Grant::bind(first, "/data", Grant::Kind::read),
                                 {"see", "/data/" + std::to_string(bait_.victim())});
    ASSERT_FALSE(has_reached(outcome));
    ran += outcome.verdict == Verdict::exited ? 1 : 0;
  }
  EXPECT_GT(ran, 0);
}

TEST_F(Grants, RuntimeDirectoryIsNotShownBelowAGrant) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  EXPECT_FALSE(has_reached(with(Grant::read("/run"), {"open-to-read", "/run/cordon/ids"})));
}

TEST_F(Grants, RootsFilesInSystemDirectoriesStayRoots) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  EXPECT_TRUE(was_stopped(with(Grant::read("/etc"), {"read", "/etc/shadow"})));
}

TEST_F(Grants, SystemDirectoriesAreNeverWritable) {
  for (const char* path : {"/usr", "/etc", "/usr/local/bin", "/boot"}) {
    EXPECT_NE(with(Grant::write(path), {"see", path}).verdict, Verdict::exited) << path;
  }
}

}  // namespace
}  // namespace cordon::escape
