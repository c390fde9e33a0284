// What a sandboxed program has before it, as a whole.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/fd.h"
#include "escape/runs.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::escape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class View : public Sandboxed {
 protected:
  Outcome shell(const std::string& script) {
    Request request = request_for(bait_, {"-c", script});
    request.program = "sh";
    return run(manager(), request);
  }
};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string of_status(pid_t pid, const std::string& field) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) return line.substr(field.size() + 2);
  }
  return {};
}

TEST_F(View, DevHasOnlyTheListedNodes) {
  EXPECT_THAT(words_of(shell("ls /dev").out),
              ElementsAre("fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin",
                          "stdout", "tty", "urandom", "zero"));
}

TEST_F(View, RootHasOnlyWhatWasGiven) {
  const auto found = words_of(shell("ls -A /").out);
  for (const char* name : {"root", "home", "run", "sys", "boot", "mnt", "srv", "opt", "media"}) {
    if (support::tree_is_below(std::string("/") + name)) continue;
    EXPECT_FALSE(found.contains(name)) << name;
  }
  EXPECT_TRUE(found.contains("usr"));
}

TEST_F(View, OnlyItsOwnProcessesExist) {
  EXPECT_EQ(words_of(shell("cd /proc && echo [0-9]*").out).size(), kPlace.others + 1);
}

TEST_F(View, TmpIsEmptyButForGrants) {
  // The programs may be there, too: they are in the working directory.
  auto found = words_of(shell("ls -A /tmp").out);
  const std::string programs = CORDON_TEST_PROGRAMS_DIR;
  if (programs.starts_with("/tmp/")) found.erase(programs.substr(5, programs.find('/', 5) - 5));
  EXPECT_THAT(found, ElementsAre(std::filesystem::path(bait_.granted()).parent_path().filename()));
  EXPECT_THAT(words_of(shell("ls -A " + bait_.granted() + "/..").out),
              ElementsAre("granted", "writable"));
}

TEST_F(View, InitCannotBeKilledFromInside) {
  EXPECT_EQ(shell("kill -9 1; kill -15 1; echo alive").out, "alive\n");
}

TEST_F(View, ControlGroupsHaveNoNames) {
  // As seen from inside, it is at the top of every hierarchy; a program of several has a number.
  EXPECT_EQ(shell("cut -d: -f3 /proc/self/cgroup | tr -d 0-9. | tr -s / | sort -u").out, "/\n");
}

TEST_F(View, MountsTellNothingOfTheHost) {
  const std::string mounts = shell("cat /proc/self/mountinfo").out;
  EXPECT_THAT(mounts, Not(HasSubstr("cgroup")));
  EXPECT_THAT(mounts, Not(HasSubstr("outside")));
}

TEST_F(View, HostNameIsNotTheHosts) { EXPECT_EQ(shell("uname -n").out, "cordon\n"); }

TEST_F(View, HostNameOfTheHostStays) {
  utsname before{};
  utsname after{};
  ::uname(&before);
  (void)attack({"rename-host"});
  ::uname(&after);
  EXPECT_STREQ(before.nodename, after.nodename);
}

TEST_F(View, EnvironmentOfTheCallerStaysBehind) {
  ::setenv("ESCAPE_TEST_SECRET", "hidden", 1);
  const Outcome outcome = shell("env; cat /proc/*/environ | tr '\\0' '\\n'");
  ::unsetenv("ESCAPE_TEST_SECRET");
  EXPECT_THAT(outcome.out, HasSubstr("PATH="));
  EXPECT_THAT(outcome.out, Not(HasSubstr("hidden")));
}

TEST_F(View, InitHasNoArgumentsOfTheLauncher) {
  EXPECT_EQ(shell("tr '\\0' '\\n' < /proc/1/cmdline; cat /proc/1/comm").out,
            "cordon-spawner\ncordon-init\n");
}

// On purpose without O_CLOEXEC, as a careless caller has them.
std::vector<base::Fd> open_many() {
  std::vector<base::Fd> open;
  for (const int wanted : {3, 63, 64, 1024, 4096}) {
    const int fd = ::fcntl(0, F_DUPFD, wanted);
    if (fd >= 0) open.emplace_back(fd);
  }
  return open;
}

// By nothing but posix_spawn, which leaves descriptors as they are: no backend of ours does.
int status_of_plain_child(Words words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  return error == 0 && ::waitpid(pid, &status, 0) == pid ? status : -1;
}

TEST_F(View, NoDescriptorOfTheCallerIsOpen) {
  const auto open = open_many();
  ASSERT_GE(open.size(), 3U);
  EXPECT_TRUE(was_stopped(attack({"descriptors"})));
}

TEST_F(View, NoDescriptorOpenedAfterTheSpawnerIsOpen) {
  EXPECT_TRUE(was_stopped(attack({"descriptors"})));  // the spawner runs now
  const auto open = open_many();
  EXPECT_TRUE(was_stopped(attack({"descriptors"})));
}

TEST_F(View, DescriptorsOfTheCallerAreSeenByAPlainChild) {  // that the attack sees them at all
  const auto open = open_many();
  EXPECT_EQ(status_of_plain_child({kAttack, "descriptors"}), 0);
}

TEST_F(View, ProgramOfRootIsNobodyOnTheHost) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  const Started started = start(request_for(bait_, {"wait"}));
  ASSERT_EQ(started.line, "ready");
  const auto pid = static_cast<pid_t>(*started.process->os_pid());
  EXPECT_THAT(of_status(pid, "Uid"), Not(HasSubstr("0\t0")));
  EXPECT_THAT(words_of(of_status(pid, "Groups")), IsEmpty());
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_EQ(of_status(pid, set), "0000000000000000") << set;
  }
  EXPECT_EQ(of_status(pid, "NoNewPrivs"), "1");
}

// Root may go anywhere, and so does the set-up of its sandboxes. The program is there without
// root's rights: it finds nothing.
TEST_F(View, WorkingDirectoryWithoutRightsShowsNothing) {
  if (!is_root()) CORDON_SKIP_WITHOUT("root", "others cannot even start there");
  const std::string closed = bait_.outside("closed");
  std::filesystem::create_directory(closed);
  std::ofstream(closed + "/file") << "secret";
  const auto in = [&](::mode_t mode) {
    ::chmod(closed.c_str(), mode);
    Request request = request_for(bait_, {"-c", "ls; cat file; cat " + closed + "/file; echo end"});
    request.program = "sh";
    request.cwd = closed;
    return run(manager(), request).out;
  };
  EXPECT_EQ(in(0), "end\n");
  EXPECT_EQ(in(0700), "file\nsecretsecretend\n");
}

TEST_F(View, FilesInWriteGrantAreTheCallers) {
  const Outcome outcome = attack({"create", bait_.writable("new")});
  EXPECT_TRUE(has_reached(outcome));
  struct stat made{};
  ASSERT_EQ(::stat(bait_.writable("new").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, ::geteuid());
  EXPECT_EQ(bait_.foreign_or_set_ids(), Words{});
}

TEST_F(View, SpawnerCannotBeOverwritten) {
  const Started started = start(request_for(bait_, {"wait"}));
  // The program's init is its sibling: both are children of this process.
  int seen = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid = 0; list >> pid;) {
      const std::string exe = "/proc/" + std::to_string(pid) + "/exe";
      std::error_code hidden;
      const auto target = std::filesystem::read_symlink(exe, hidden).string();
      if (hidden || !target.starts_with("/memfd:cordon-spawner")) continue;
      ++seen;
      const base::Fd image(::open(exe.c_str(), O_RDONLY | O_CLOEXEC));
      constexpr int kSealed = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
      EXPECT_EQ(::fcntl(image.get(), F_GET_SEALS) & kSealed, kSealed);
      EXPECT_LT(::open(exe.c_str(), O_WRONLY | O_CLOEXEC), 0);
    }
  }
  // An ordinary caller may not even look.
  EXPECT_GE(seen, is_root() ? 1 : 0);
}

}  // namespace
}  // namespace cordon::escape
