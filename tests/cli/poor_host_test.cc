// Hosts that lack something: a run is correct, or an error says which step failed, on what and why.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "fixture.h"
#include "support/tree.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PoorHost : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (on("true", "").status != 0) CORDON_SKIP("linux", "no mount namespace can be made");
    if (cordon({"run", "--backend", "linux", "--cwd", "/usr", "true"}).status != 0) {
      CORDON_SKIP("linux", "no sandbox can be made: see cordon doctor");
    }
  }

  // Runs a sandbox in a mount namespace that `spoil`, lines for a shell, has changed. An ordinary
  // user is root of a user namespace there, as in many a container.
  static Ended on(const std::string& spoil, const std::string& arguments) {
    std::vector<std::string> words = {"timeout", "20", "unshare", "--mount"};
    if (::geteuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
    const std::string run =
        arguments.empty() ? "" : "exec " CORDON_COMMAND " run --backend linux " + arguments;
    words.insert(words.end(), {"sh", "-c", "set -e; cd /usr; " + spoil + "\n" + run});
    return Command::program(words).run();
  }

  static void expect_hi(const Ended& ended) {
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "hi\n");
  }
};

TEST_F(PoorHost, WithoutProcNothingIsRun) {
  const Ended ended = on("mount -t tmpfs none /proc", "-- echo hi");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("user namespace"), HasSubstr("mount /proc"),
                               HasSubstr("No such file or directory")));
  EXPECT_EQ(ended.out, "");
}

TEST_F(PoorHost, MaskedProcIsNamed) {
  const Ended ended = on("mount -t tmpfs none /proc/sys", "-- echo hi");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/proc of the sandbox's own"), HasSubstr("/proc/sys")));
  EXPECT_EQ(ended.out, "");
}

constexpr auto kReadOnlyGroups =
    "for m in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do mount -o remount,bind,ro $m; "
    "done";

TEST_F(PoorHost, ReadOnlyControlGroupsLeaveSampling) {
  expect_hi(on(kReadOnlyGroups, "--memory 64M --pids 64 -- echo hi"));
}

TEST_F(PoorHost, ReadOnlyControlGroupsCannotBeRequired) {
  const Ended ended = on(kReadOnlyGroups, "--memory 64M --require memory -- echo hi");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("--require"), HasSubstr("memory"), HasSubstr("cgroup")));
  if (::geteuid() == 0) {
    EXPECT_THAT(ended.err, HasSubstr("Read-only file system"));
  }
}

TEST_F(PoorHost, WithoutControlGroupsRunsAreSampled) {
  expect_hi(on("mount -t tmpfs none /sys/fs/cgroup", "--memory 64M --pids 64 -- echo hi"));
}

TEST_F(PoorHost, FullFolderForTemporaryFilesIsNotNeeded) {
  constexpr auto kFull =
      "mount -t tmpfs -o size=4k,mode=1777 none /media; export TMPDIR=/media;"
      " head -c 8192 /dev/zero >/media/full 2>/dev/null || true";
  expect_hi(on(kFull, "-- echo hi"));
  // The sandbox has a /tmp of its own.
  expect_hi(on(kFull, "-- sh -c 'head -c 100000 /dev/zero >/tmp/file && echo hi'"));
  const Ended ended = on(kFull, "--report /media/report -- echo hi");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/media/report"), HasSubstr("No space left on device")));
}

TEST_F(PoorHost, ReadOnlyRunFolderIsNamed) {
  const Ended ended = on("mount -t tmpfs -o ro none /run", "-- echo hi");
  if (::geteuid() != 0) return expect_hi(ended);  // needs nothing there
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/run/cordon"), HasSubstr("Read-only file system")));
}

TEST_F(PoorHost, EmptyEnvironmentIsEnough) {
  expect_hi(
      Command::program({"env", "-i", CORDON_COMMAND, "run", "--cwd", "/usr", "--", "echo", "hi"})
          .run());
}

TEST_F(PoorHost, WithoutProcessesToSpareNothingIsRun) {
  if (::geteuid() == 0) CORDON_SKIP_IN_PRIVATE_TREE();
  // A user nobody else is, so that others' processes do not count.
  std::vector<std::string> words = {"timeout", "20"};
  if (::geteuid() == 0) {
    words.insert(words.end(),
                 {"setpriv", "--reuid", "29871", "--regid", "29871", "--clear-groups"});
  }
  words.insert(words.end(), {"prlimit", "--nproc=1", CORDON_COMMAND, "run", "--cwd", "/usr"});
  words.insert(words.end(), {"--backend", "linux", "--", "echo", "hi"});
  const Ended ended = Command::program(words).run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("Resource temporarily unavailable"));
  EXPECT_EQ(ended.out, "");
}

// Of the pids controller of v1, below the group of this process; removed with what is in it.
class ProcessGroup {
 public:
  explicit ProcessGroup(std::string path) : path_(std::move(path)) {
    std::error_code failed;
    made_ = std::filesystem::create_directory(path_, failed);
  }
  ~ProcessGroup() {
    if (!made_) return;
    ::rmdir((path_ + "/cordon").c_str());
    ::rmdir(path_.c_str());
  }
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  [[nodiscard]] bool made() const { return made_; }

 private:
  std::string path_;
  bool made_ = false;
};

TEST_F(PoorHost, GroupAtItsProcessLimitIsAnErrorOrARun) {
  const Ended own =
      Command::program({"awk", "-F:", "$2 == \"pids\" { printf \"%s\", $3 }", "/proc/self/cgroup"})
          .run();
  const std::string place =
      "/sys/fs/cgroup/pids" + own.out + "/cordon-test-" + std::to_string(::getpid());
  const ProcessGroup group(place);
  if (!group.made()) CORDON_SKIP("cgroup_v1", "the group " + place + " cannot be made");
  bool ran = false;
  for (const char* const most : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "12", "20"}) {
    const std::string join =
        fmt::format("cd /usr; echo {0} >{1}/pids.max; echo $$ >{1}/cgroup.procs; ", most, place);
    const Ended ended =
        Command::program(
            {"sh", "-c", join + "exec " CORDON_COMMAND " run --backend linux -- echo hi"})
            .run();
    ran = ended.status == 0;
    if (ran) {
      EXPECT_EQ(ended.out, "hi\n");
      continue;
    }
    EXPECT_EQ(ended.status, 125) << "with " << most << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("Resource temporarily unavailable")) << "with " << most;
    EXPECT_EQ(ended.out, "");
  }
  EXPECT_TRUE(ran);
}

TEST_F(PoorHost, UnreadableDirectoryStaysUnreadable) {
  using std::filesystem::perms;
  const std::string closed = path("closed");
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, perms::none);
  const Ended ended = cordon({"run", "--backend", "linux", "--cwd", closed, "--", "ls", "."});
  std::filesystem::permissions(closed, perms::owner_all);
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("Permission denied"));
  EXPECT_EQ(ended.out, "");
}

TEST_F(PoorHost, DirectoryOfSomebodyElseIsNamed) {
  const std::string closed = path("closed");
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
  if (::chown(closed.c_str(), 29871, 29871) != 0) {
    CORDON_SKIP("root", "only root can give a directory away");
  }
  const Ended ended = cordon({"run", "--backend", "linux", "--cwd", closed, "--", "echo", "hi"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("chdir"), HasSubstr(closed), HasSubstr("Permission denied")));
  EXPECT_EQ(ended.out, "");
}

TEST_F(PoorHost, RemovedDirectoryIsNoPlaceToRunIn) {
  const std::string gone = path("gone");
  const Ended ended = on("mkdir " + gone + "; cd " + gone + "; rmdir " + gone, "-- echo hi");
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("current directory"), HasSubstr("--cwd")));
  expect_hi(on("mkdir " + gone + "; cd " + gone + "; rmdir " + gone, "--cwd /usr -- echo hi"));
}

TEST_F(PoorHost, HugeLimitsAreNone) {
  expect_hi(on("", "--memory 8000T --pids 4294967295 --files 999999999 -- echo hi"));
}

TEST_F(PoorHost, OneProcessIsEnoughForAProgramThatStartsNone) {
  expect_hi(on("", "--pids 1 -- echo hi"));
  const Ended ended = cordon({"run", "--backend", "linux", "--cwd", "/usr", "--pids", "1", "--",
                              "sh", "-c", "ls / & wait"});
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("Cannot fork"));
}

TEST_F(PoorHost, MemoryTooSmallToStartInIsNeverASuccess) {
  for (const char* const size : {"1", "4K", "64K"}) {
    const Ended ended = on("", "--memory " + std::string(size) + " -- echo hi");
    EXPECT_GT(ended.status, 0) << size;
    EXPECT_NE(ended.err, "") << size;
    EXPECT_EQ(ended.out, "") << size;
  }
}

}  // namespace
}  // namespace cordon::cli
