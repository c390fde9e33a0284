// What is left when somebody is killed: of the command, nothing is lost; of the supervisor, nothing
// is left.
//   CORDON_SOAK_SANDBOX_KILLS  how often
#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "sandbox_fixture.h"
#include "support/count_from.h"

namespace cordon::cli {
namespace {

using std::chrono::steady_clock;
using support::count_from;
using testing::AnyOf;
using testing::HasSubstr;

// Whether a process has this in its arguments.
bool alive(const std::string& mark) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string arguments;
    std::getline(file, arguments);  // a process that ends meanwhile is no error
    if (arguments.find(mark) != std::string::npos) return true;
  }
  return false;
}

std::size_t mounts() {
  std::ifstream file("/proc/self/mountinfo");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

// Control groups that one of these has made, in every hierarchy that is mounted: others may be at
// work on this machine.
std::set<std::string> cgroups_of(const std::set<pid_t>& pids) {
  std::set<std::string> all;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator
           it("/sys/fs/cgroup", std::filesystem::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    if (!it->is_directory(error) || path.find("/cordon/") == std::string::npos) continue;
    for (const pid_t pid : pids) {
      if (path.find("-" + std::to_string(pid) + "-") != std::string::npos) all.insert(path);
    }
  }
  return all;
}

class SandboxKill : public SandboxTest {};

TEST_F(SandboxKill, OfTheSupervisorEndsEverythingInside) {
  const std::string mark = "31536" + std::to_string(::getpid());
  create("sleep " + mark + " & setsid sleep " + mark + " & wait");
  ASSERT_EQ(sandbox({"exec", "--detach", "box", "--", "sleep", mark}).status, 0);
  ASSERT_TRUE(eventually([&] { return alive("sleep\0" + mark) || alive(mark); }));
  const pid_t pid = supervisor();
  ASSERT_GT(pid, 1);
  const auto since = steady_clock::now();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  // Under a loaded machine the look itself takes its time, so it is the end that is waited for.
  while (alive(mark) && steady_clock::now() - since < kPatience) {
  }
  EXPECT_LT(steady_clock::now() - since, std::chrono::seconds(1));
  EXPECT_TRUE(list().empty());
  EXPECT_TRUE(std::filesystem::is_empty(place()));
  EXPECT_THAT(sandbox({"exec", "box", "--", "true"}).err, HasSubstr("no sandbox 'box'"));
}

TEST_F(SandboxKill, OfTheSupervisorIsToldToWhoeverIsAttached) {
  create("sleep 1000");
  auto attached = command({"exec", "box", "--", "sh", "-c", "echo ready; sleep 1000"}).start();
  ASSERT_TRUE(attached.reads("ready"));
  ASSERT_EQ(::kill(supervisor(), SIGKILL), 0);
  const Ended ended = attached.wait();
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("supervisor of the sandbox went away"));
  const Ended after = sandbox({"exec", "box", "--", "true"});
  EXPECT_EQ(after.status, 125);
  EXPECT_THAT(after.err, AnyOf(HasSubstr("has died"), HasSubstr("has ended meanwhile")));
  // And its name is free.
  create("sleep 1000");
}

TEST_F(SandboxKill, OfTheSupervisorBySigtermStopsTheSandbox) {
  create("sleep 1000");
  ASSERT_EQ(::kill(supervisor(), SIGTERM), 0);
  ASSERT_TRUE(eventually([&] { return state() == "stopped"; }));
}

TEST_F(SandboxKill, OfTheCommandLeavesTheSandboxAlone) {
  auto creating = command({"create", "--cwd", path("work"), "box", "--", "sleep", "1000"}).start();
  ASSERT_TRUE(creating.reads("box"));
  creating.signal(SIGKILL);
  (void)creating.wait();
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxKill, AtAnyMomentLeavesNothingBehind) {
  create("sleep 1000");
  EXPECT_EQ(exec("true").status, 0);
  EXPECT_EQ(sandbox({"rm", "box"}).status, 0);
  const std::size_t mounts_before = mounts();
  std::set<pid_t> killed;
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  const std::string mark = "41536" + std::to_string(::getpid());
  for (int i = 0; i < count_from("CORDON_SOAK_SANDBOX_KILLS", 5); ++i) {
    // Both the command and the supervisor, from before there is one to the middle of its work.
    auto creating = command({"create", "--json", "--cwd", path("work"), "box", "--", "sh", "-c",
                             "sleep " + mark + " & sleep " + mark})
                        .start();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    if (random() % 2 == 0) creating.signal(SIGKILL);
    (void)creating.wait();
    pid_t pid = -1;
    // Of a command that was killed the supervisor may be still on its way.
    (void)eventually(
        [&] {
          pid = supervisor();
          return pid > 1;
        },
        std::chrono::seconds(1));
    if (pid > 1) {
      killed.insert(pid);
      auto running = command({"exec", "box", "--", "sleep", mark}).start();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      (void)::kill(pid, SIGKILL);
      (void)running.wait();
    }
    ASSERT_TRUE(eventually([&] { return !alive(mark); })) << "kill " << i;
    ASSERT_TRUE(eventually([&] { return list().empty(); })) << "kill " << i;
    ASSERT_TRUE(std::filesystem::is_empty(place())) << "kill " << i;
  }
  EXPECT_EQ(mounts(), mounts_before);
  // Leftovers of the dead are swept by who comes next.
  create("sleep 1000");
  EXPECT_EQ(sandbox({"rm", "box"}).status, 0);
  EXPECT_FALSE(killed.empty());
  EXPECT_TRUE(eventually([&] { return cgroups_of(killed).empty(); }));
}

}  // namespace
}  // namespace cordon::cli
