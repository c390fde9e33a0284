// What holds for one-shot runs: limits of all of gVisor together, and what reaches the host.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "backend/gvisor/gvisor_backend.h"
#include "base/fd.h"
#include "gvisor/harness.h"
#include "supervise/supervising_manager.h"

namespace cordon::gvisor_tests {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

class GvisorRun : public GvisorTest {
 protected:
  void SetUp() override {
    GvisorTest::SetUp();
    if (IsSkipped()) return;
    auto made = gvisor_manager();
    ASSERT_TRUE(made) << made.error().message;
    manager_ = std::move(*made);
  }
  [[nodiscard]] bool has_groups() const {
    return manager_->capabilities().enforcement.memory.level != Guarantee::Level::none;
  }
  [[nodiscard]] Outcome run(Request request) {
    auto process = manager_->create(std::move(request));
    if (!process) {
      ADD_FAILURE() << process.error().message;
      return {};
    }
    if (auto started = (*process)->start(); !started) ADD_FAILURE() << started.error().message;
    return *(*process)->wait();
  }
  [[nodiscard]] static Request misbehave(std::string how) {
    Request request;
    request.program = CORDON_TEST_PROGRAMS_DIR "/misbehave";
    request.args = {std::move(how)};
    request.cwd = "/usr";
    request.grants = {Grant::read(CORDON_TEST_PROGRAMS_DIR)};
    request.timeout = 60s;
    return request;
  }
  std::unique_ptr<Manager> manager_;
};

TEST_F(GvisorRun, MemoryBombStaysWithinTheLimit) {
  if (!has_groups()) CORDON_SKIP_WITHOUT("cgroup", "control groups for memory");
  for (const char* kind : {"memory-bomb", "shared-bomb"}) {
    Request request = misbehave(kind);
    request.limits.memory_bytes = std::uint64_t{96} << 20;
    const Outcome outcome = run(std::move(request));
    EXPECT_EQ(outcome.verdict, Verdict::memory) << kind << ": " << to_json(outcome);
    ASSERT_TRUE(outcome.usage.memory_peak_bytes);
    // Some allocations of the kernel may not fail, and are charged beyond the limit: seen, a page.
    constexpr std::uint64_t kLastPages = std::uint64_t{64} << 10;
    EXPECT_LE(*outcome.usage.memory_peak_bytes, (std::uint64_t{96} << 20) + kLastPages) << kind;
  }
}

TEST_F(GvisorRun, ForkBombStaysWithinTheLimit) {
  if (!has_groups()) CORDON_SKIP_WITHOUT("cgroup", "control groups for processes");
  Request request = misbehave("fork-bomb");
  request.limits.processes = 32;
  request.limits.memory_bytes = std::uint64_t{512} << 20;
  const Outcome outcome = run(std::move(request));
  EXPECT_EQ(outcome.verdict, Verdict::processes) << to_json(outcome);
  EXPECT_THAT(outcome.limits_hit, Contains(Field(&LimitHit::name, "processes")));
}

TEST_F(GvisorRun, OutputToAFileIsAllThere) {
  const fs::path path = root() / "out";
  std::ofstream(path) << "before\n";
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ASSERT_TRUE(file);
  Request request = script("echo one; (echo two); echo three >&2");
  request.out = Output::to_fd(file.get());
  request.err = Output::to_fd(file.get());
  EXPECT_EQ(run(std::move(request)).exit_code, 0);
  std::ifstream stream(path);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_THAT(text, testing::StartsWith("before\n"));
  for (const char* line : {"one\n", "two\n", "three\n"}) EXPECT_THAT(text, HasSubstr(line));
}

// The mode of the file that a hostile program leaves in a write grant.
class GvisorSetuid : public GvisorRun {
 protected:
  unsigned mode_left(Manager& manager) {
    const fs::path granted = root() / "granted";
    fs::create_directory(granted);
    Request request = script("cp /usr/bin/true f; chmod 755 f; chmod 2755 f; chmod 4755 f; exit 0");
    request.cwd = granted.string();
    request.grants = {Grant::write(granted.string())};
    if (::geteuid() == 0) {
      EXPECT_EQ(::chmod(root().c_str(), 0755), 0);
      EXPECT_EQ(::chown(granted.c_str(), 4321, 4321), 0);
      request.user = User{4321, 4321};
    }
    auto process = manager.create(std::move(request));
    EXPECT_TRUE(process && (*process)->start());
    if (process) (void)(*process)->wait();
    struct stat info{};
    EXPECT_EQ(::stat((granted / "f").c_str(), &info), 0);
    return info.st_mode & 07777U;
  }
};

TEST_F(GvisorSetuid, NoSuchFileIsLeftOnTheHost) { EXPECT_EQ(mode_left(*manager_), 0755U); }

TEST_F(GvisorSetuid, NorByWhoIsExecutedBesideTheMainProgram) {
  const fs::path granted = root() / "granted";
  fs::create_directory(granted);
  Request request = script("sleep 1000");
  request.grants = {Grant::write(granted.string())};
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
    ASSERT_EQ(::chown(granted.c_str(), 4321, 4321), 0);
    request.user = User{4321, 4321};
  }
  const auto container = create(std::move(request));
  // They are not filtered by this runsc: so there are none.
  const auto process = container->inside().create(script("true"));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::unsupported);
  EXPECT_THAT(process.error().message, HasSubstr("setuid"));
}

TEST_F(GvisorSetuid, ItWouldBeWithoutTheFilter) {
  auto runsc = gvisor_backend::find_runsc();
  ASSERT_TRUE(runsc);
  runsc->filters = false;
  supervise::SupervisingManager weakened(gvisor_backend::GvisorBackend::make(*std::move(runsc)));
  EXPECT_EQ(mode_left(weakened), 04755U);
}

// A runsc that first goes back to where the caller is, as some versions do by themselves.
std::string leaving_runsc(const fs::path& path, const std::string& real) {
  std::ofstream script(path);
  script << "#!/bin/sh\ncase \" $* \" in *' run '*)\n";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t names = line.find(':') + 1;
    const std::size_t group = line.find(':', names) + 1;
    const std::string controllers = line.substr(names, group - names - 1);
    if (controllers != "memory" && controllers != "pids" && !controllers.empty()) continue;
    const std::string file = controllers.empty() ? "/cgroup.procs" : "/tasks";
    script << "echo 0 >'/sys/fs/cgroup/" << controllers << line.substr(group) << file << "'\n";
  }
  script << ";; esac\nexec " << real << " \"$@\"\n";
  script.close();
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

TEST_F(GvisorRun, ARunscThatLeavesItsGroupIsRefused) {
  if (!has_groups()) CORDON_SKIP_WITHOUT("cgroup", "control groups for memory");
  auto runsc = gvisor_backend::find_runsc();
  ASSERT_TRUE(runsc);
  runsc->path = leaving_runsc(root() / "runsc", runsc->path);
  supervise::SupervisingManager manager(gvisor_backend::GvisorBackend::make(*std::move(runsc)));
  Request request = script("sleep 100");
  request.limits.memory_bytes = std::uint64_t{96} << 20;
  auto process = manager.create(request);
  ASSERT_TRUE(process) << process.error().message;
  const auto started = (*process)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::limit_not_applied) << started.error().message;
}

TEST_F(GvisorRun, TellsWhatItCannotDo) {
  const auto refused = [&](const Request& request) {
    const auto process = manager_->create(request);
    return process ? "" : process.error().message;
  };
  Request request = script("true");
  request.network = Network::host;
  EXPECT_THAT(refused(request), HasSubstr("network"));
  request = script("true");
  request.explain = true;
  EXPECT_THAT(refused(request), HasSubstr("explain"));
  if (::geteuid() == 0) {
    request = script("true");
    request.grants = {Grant::write(root().string())};
    EXPECT_THAT(refused(request), HasSubstr("--user"));
  }
}

TEST_F(GvisorRun, PlanSaysWhatHolds) {
  const auto plan = manager_->plan(script("true"));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->backend, "gvisor");
  EXPECT_EQ(plan->steps.front().name, "gvisor");
  EXPECT_THAT(plan->enforcement.syscalls.by, HasSubstr("gVisor"));
}

}  // namespace
}  // namespace cordon::gvisor_tests
