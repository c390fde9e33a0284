// Grants that somebody else had a hand in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

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

TEST_F(Grants, RuntimeDirectoryIsNotShownBelowAGrant) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  // From the second time on, some of the mounts were made before.
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(has_reached(with(Grant::read("/run"), {"open-to-read", "/run/cordon/ids"}))) << i;
  }
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
