// Real processes only: what the OS itself shows.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "cordon/run.h"
#include "support/needs_descriptors.h"

namespace cordon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kBehave = CORDON_TEST_PROGRAMS_DIR "/behave";

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// A handle on some process that is not ours to reap; waits for its end.
class Witness {
 public:
  explicit Witness(pid_t pid) : fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  [[nodiscard]] bool gone_within(std::chrono::milliseconds patience) const {
    if (!fd_) return true;
    pollfd fd{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&fd, 1, static_cast<int>(patience.count())) == 1;
  }

 private:
  base::Fd fd_;
};

pid_t child_named_in(const std::string& line) { return std::stoi(line.substr(6)); }

class PosixReality : public testing::Test {
 protected:
  std::unique_ptr<Manager> manager_ = posix_manager().value();
};

TEST_F(PosixReality, NothingIsLeftBehind) {  // C74
  // A first thread brings a sanitizer's own with it.
  ASSERT_EQ(run(*posix_manager().value(), {.program = "true"}).exit_code, 0);
  const std::size_t fds = entries_of("/proc/self/fd");
  const std::size_t threads = entries_of("/proc/self/task");
  {
    const auto manager = posix_manager().value();
    for (int i = 0; i < 20; ++i) {
      Request request{.program = kBehave, .args = {"write", "o", "e"}};
      request.in = Input::bytes("input");
      ASSERT_EQ(run(*manager, request).exit_code, 0);
      ASSERT_EQ(run(*manager, {.program = "no-such-program"}).verdict, Verdict::failed_to_start);
    }
    Request hanging{.program = kBehave, .args = {"tree"}};
    const auto process = manager->create(hanging).value();
    ASSERT_TRUE(process->start());
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), fds);
  EXPECT_EQ(entries_of("/proc/self/task"), threads);
  EXPECT_FALSE(has_children()) << "a zombie or a survivor";
}

TEST_F(PosixReality, TimeoutKillsTheChildrenToo) {  // C20 C34
  Request request{.program = kBehave, .args = {"tree"}};
  request.out = Output::events({.mode = OutputMode::line});
  request.timeout = 300ms;
  request.grace = 50ms;
  const auto process = manager_->create(request).value();
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Witness child(child_named_in(events.next()->data.str()));
  EXPECT_FALSE(child.gone_within(0ms));
  EXPECT_EQ(process->wait()->verdict, Verdict::timeout);
  EXPECT_TRUE(child.gone_within(5000ms));
}

TEST_F(PosixReality, ChildLeftBehindIsKilled) {
  Request request{.program = kBehave, .args = {"orphan"}};
  request.out = Output::events({.mode = OutputMode::line});
  const auto process = manager_->create(request).value();
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const Witness child(child_named_in(events.next()->data.str()));
  EXPECT_EQ(process->wait()->exit_code, 0);
  EXPECT_TRUE(child.gone_within(5000ms));
}

TEST_F(PosixReality, ManagerTakesItsProcessesWithIt) {
  const auto process = manager_->create({.program = "sleep", .args = {"1000"}}).value();
  ASSERT_TRUE(process->start());
  const Witness witness(static_cast<pid_t>(*process->os_pid()));
  manager_.reset();
  EXPECT_TRUE(witness.gone_within(0ms));
  EXPECT_FALSE(process->running());
  EXPECT_EQ(process->outcome()->verdict, Verdict::cancelled);
}

TEST_F(PosixReality, StartAfterTheManagerIsAnError) {
  const auto process = manager_->create({.program = "true"}).value();
  manager_.reset();
  EXPECT_EQ(process->start().error().code, ErrorCode::wrong_state);
}

TEST_F(PosixReality, StatusTakenBySomebodyElseIsSaidSo) {
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  const Outcome outcome = run(*manager_, {.program = kBehave, .args = {"exit", "3"}});
  ::sigaction(SIGCHLD, &before, nullptr);
  EXPECT_FALSE(outcome.exit_code);
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message, HasSubstr("SIGCHLD"));
  EXPECT_EQ(exit_status(outcome), 125);
}

TEST_F(PosixReality, ProgramHasItsOwnProcessGroup) {  // C38
  const auto process = manager_->create({.program = "sleep", .args = {"1000"}}).value();
  ASSERT_TRUE(process->start());
  const auto pid = static_cast<pid_t>(*process->os_pid());
  EXPECT_EQ(::getpgid(pid), pid);
  EXPECT_NE(::getpgid(0), pid);
}

TEST_F(PosixReality, CallersDescriptorsAreClosed) {
  std::vector<base::Fd> open;
  for (const int wanted : {3, 63, 64, 1024, 4096}) {
    const int fd = ::fcntl(0, F_DUPFD, wanted);  // on purpose without O_CLOEXEC
    if (fd >= 0) open.emplace_back(fd);
  }
  const Outcome outcome = run(*manager_, {.program = "ls", .args = {"/proc/self/fd"}});
  EXPECT_EQ(outcome.out, "0\n1\n2\n3\n") << "3 is the directory that ls reads";
}

TEST_F(PosixReality, CallersEnvironmentStaysBehind) {
  ASSERT_EQ(::setenv("CORDON_TEST_SECRET", "hidden", 1), 0);
  Request request{.program = "env", .env = {{.name = "GIVEN", .value = "yes"}}};
  const Outcome outcome = run(*manager_, request);
  EXPECT_THAT(outcome.out, HasSubstr("GIVEN=yes\n"));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("hidden")));
  request.env_pass = {"CORDON_TEST_*"};
  EXPECT_THAT(run(*manager_, request).out, HasSubstr("CORDON_TEST_SECRET=hidden"));
  ::unsetenv("CORDON_TEST_SECRET");
}

TEST_F(PosixReality, LimitsAreSetInTheChildAlone) {  // mistake: setrlimit on the parent
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  Request request{.program = "sh", .args = {"-c", "ulimit -n; ulimit -f"}};
  request.limits.open_files = 77;
  request.limits.file_size_bytes = 512 * 1024;
  EXPECT_EQ(run(*manager_, request).out, "77\n1024\n");
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(before.rlim_cur, after.rlim_cur);
}

TEST_F(PosixReality, UnsupportedLimitIsRefusedNotDropped) {
  const auto process = manager_->create({.program = "true", .limits = {.cpu_millicores = 500}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::unsupported);
}

TEST_F(PosixReality, WorkingDirectoryIsUsed) {  // C139
  EXPECT_EQ(run(*manager_, {.program = "pwd", .cwd = "/usr"}).out, "/usr\n");
  const Outcome missing = run(*manager_, {.program = "pwd", .cwd = "/no/such/dir"});
  ASSERT_EQ(missing.verdict, Verdict::failed_to_start);
  EXPECT_EQ(missing.error->stage, "chdir");
  EXPECT_EQ(exit_status(missing), 125);
  EXPECT_THAT(missing.error->message, HasSubstr("/no/such/dir"));
}

TEST_F(PosixReality, WorkingDirectoryThatIsAFileIsASetUpFailure) {
  const Outcome outcome = run(*manager_, {.program = "pwd", .cwd = "/etc/passwd"});
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
  EXPECT_EQ(exit_status(outcome), 125);
}

TEST_F(PosixReality, StartErrorsAreWrapped) {  // C23
  const Outcome outcome = run(*manager_, {.program = "no-such-program"});
  EXPECT_THAT(outcome.error->message, testing::StartsWith("failed to start process"));
}

TEST_F(PosixReality, UnexecutableFilesAreToldApart) {
  const auto dir =
      std::filesystem::temp_directory_path() / ("cordon-reality-" + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  const auto file = [&](const char* name, const char* text, int mode) {
    std::ofstream(dir / name) << text;
    ::chmod((dir / name).c_str(), static_cast<mode_t>(mode));
    return (dir / name).string();
  };
  const auto message_of = [&](const std::string& program) {
    const Outcome outcome = run(*manager_, {.program = program});
    EXPECT_EQ(exit_status(outcome), 126) << program;
    return outcome.error ? outcome.error->message : "";
  };
  EXPECT_THAT(message_of(dir.string()), HasSubstr("directory"));
  EXPECT_THAT(message_of(file("plain", "hello", 0644)), HasSubstr("chmod"));
  EXPECT_THAT(message_of(file("text", "hello", 0755)), HasSubstr("#! line"));
  EXPECT_THAT(message_of(file("script", "#!/no/such/interpreter -x\n", 0755)),
              HasSubstr("/no/such/interpreter"));
  std::filesystem::remove_all(dir);
}

TEST_F(PosixReality, ArgumentsThatAreTooLargeAreAnError) {
  Request request{.program = "true"};
  for (int i = 0; i < 40; ++i) request.args.emplace_back(100'000, 'a');
  const Outcome outcome = run(*manager_, request);
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
  EXPECT_EQ(outcome.error->os_error, E2BIG);
}

TEST_F(PosixReality, PeakMemoryIsTheProgramsOwn) {
  Request request{.program = kBehave, .args = {"alloc", std::to_string(300 << 20)}};
  const Outcome outcome = run(*manager_, request);
  ASSERT_TRUE(outcome.usage.memory_peak_bytes);
  EXPECT_GE(*outcome.usage.memory_peak_bytes, 300U << 20);
  EXPECT_LT(*outcome.usage.memory_peak_bytes, 400U << 20);
}

TEST_F(PosixReality, BusyProgramShowsItsProcessorShare) {  // C112
  const auto process = manager_->create({.program = kBehave, .args = {"burn"}}).value();
  ASSERT_TRUE(process->start());
  double percent = 0;
  for (int i = 0; i < 2000 && percent < 1; ++i) {
    ASSERT_EQ(process->wait_for(5ms).error().code, ErrorCode::timed_out);
    percent = process->status().cpu_percent.value_or(0);
  }
  EXPECT_GE(percent, 1);
}

TEST_F(PosixReality, TerminalIsTheProgramsOwn) {
  Request request{.program = "sh",
                  .args = {"-c", "test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty"}};
  request.in = Input::pipe();
  request.terminal = TerminalSize{.rows = 33, .columns = 101};
  const Outcome outcome = run(*manager_, request);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.out, "33 101\r\n");
}

Request on_terminal(const std::string& script) {
  Request request{.program = "sh", .args = {"-c", script}};
  request.in = Input::pipe();
  request.out = Output::events({.mode = OutputMode::line});
  request.terminal = TerminalSize{};
  return request;
}

TEST_F(PosixReality, TerminalEndOfInputAndResize) {
  const auto process =
      manager_->create(on_terminal("trap 'stty size' WINCH; echo go; cat; cat")).value();
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  EXPECT_EQ(events.next()->data.view(), "go");
  ASSERT_TRUE(process->resize_terminal({.rows = 50, .columns = 60}));
  ASSERT_TRUE(process->close_stdin());  // the first cat ends, the trap runs
  EXPECT_EQ(events.next()->data.view(), "50 60");
  ASSERT_TRUE(process->close_stdin());
  EXPECT_EQ(process->wait()->exit_code, 0);
}

TEST_F(PosixReality, CtrlCOnTheTerminalInterrupts) {
  const auto process = manager_->create(on_terminal("echo go; exec sleep 1000")).value();
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  EXPECT_EQ(events.next()->data.view(), "go");
  ASSERT_TRUE(process->write_stdin("\x03"));
  EXPECT_EQ(process->wait()->termination.signal, SIGINT);
}

TEST_F(PosixReality, ThousandsOfDescriptorsInTheCallerDoNotMatter) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::vector<base::Fd> many;
  const auto wanted = std::min<rlim_t>(limit.rlim_cur - 64, 15'000);
  for (rlim_t i = 0; i < wanted; ++i) many.emplace_back(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(run(*manager_, {.program = "echo", .args = {"fine"}}).out, "fine\n");
}

TEST_F(PosixReality, NoDescriptorLeftIsAnErrorNotACrash) {
  CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS();
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto warm = manager_->create({.program = "true"}).value();
  ASSERT_TRUE(warm->start());
  ASSERT_TRUE(warm->wait());
  std::vector<base::Fd> all;
  for (;;) {
    base::Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!fd) break;
    all.push_back(std::move(fd));
  }
  const Outcome outcome = run(*manager_, {.program = "true"});
  all.clear();
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
  EXPECT_EQ(outcome.error->code, ErrorCode::resource_exhausted);
  EXPECT_EQ(run(*manager_, {.program = "true"}).exit_code, 0) << "and it recovers";
}

}  // namespace
}  // namespace cordon
