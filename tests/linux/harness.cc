#include "linux/harness.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>
#include <utility>

#include "backend/linux/tree_sampler.h"
#include "base/fd.h"
#include "supervise/supervising_manager.h"
#include "support/must_work.h"

namespace cordon::linux_tests {
namespace {

namespace fs = std::filesystem;

// Empty if it is gone: what /proc tells of may be, at any moment.
std::string slurp(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

std::size_t entries(const char* path) {
  std::error_code ignored;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path, ignored), {}));
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

int failures() {
  const testing::TestResult& result =
      *testing::UnitTest::GetInstance()->current_test_info()->result();
  int count = 0;
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).failed()) ++count;
  }
  return count;
}

}  // namespace

std::unique_ptr<Manager> make_manager(linux_backend::Weakened weakened) {
  auto backend = linux_backend::LinuxBackend::make(std::move(weakened));
  if (!backend) {
    ADD_FAILURE() << backend.error().message;
    return nullptr;
  }
  fs::current_path(CORDON_TEST_PROGRAMS_DIR);
  return std::make_unique<supervise::SupervisingManager>(std::move(*backend));
}

bool can_sandbox() { return linux_backend::LinuxBackend::make().has_value(); }

Request misbehave(std::vector<std::string> args) {
  return {.program = CORDON_TEST_PROGRAMS_DIR "/misbehave",
          .args = std::move(args),
          .cwd = "/usr",
          .grants = {Grant::read(CORDON_TEST_PROGRAMS_DIR)}};
}

void in_own_process(const std::function<void()>& test) { in_own_process(::geteuid(), test); }

void in_own_process(uid_t user, const std::function<void()>& test) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (user != ::geteuid()) {
      if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 ||
          ::setresuid(user, user, user) != 0) {
        ::_exit(99);
      }
      ::prctl(PR_SET_DUMPABLE, 1);  // else what it has in /proc is root's
    }
    const int before = failures();
    try {
      test();
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << thrown.what();
    }
    std::fflush(nullptr);
    ::_exit(failures() > before ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "failed in a process of its own, see above";
}

Outcome run_to_end(Manager& manager, Request request) {
  auto process = manager.create(std::move(request));
  if (!process) {
    Outcome outcome;
    outcome.error = process.error();
    return outcome;
  }
  if (auto started = (*process)->start(); !started) {
    auto outcome = (*process)->wait();
    if (outcome) return *outcome;
    Outcome none;
    none.error = started.error();
    return none;
  }
  auto outcome = (*process)->wait();
  if (outcome) return *outcome;
  ADD_FAILURE() << outcome.error().message;
  return {};
}

Folder::Folder() {
  std::string name = fs::temp_directory_path() / "cordon-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
  ::chmod(name.c_str(), 0777);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::path(const std::string& name) const {
  return name.empty() ? path_.string() : (path_ / name).string();
}

std::ostream& operator<<(std::ostream& out, const Traces& t) {
  return out << t.descriptors << " descriptors, " << t.threads << " threads, " << t.children
             << " children, " << t.mounts << " mounts, " << t.groups << " groups";
}

Traces traces() {
  Traces seen;
  seen.descriptors = entries("/proc/self/fd");
  seen.threads = entries("/proc/self/task");
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator("/proc/self/task", ignored)) {
    const std::string pids = slurp(task.path() / "children");
    seen.children += static_cast<std::size_t>(std::ranges::count(pids, ' '));
  }
  seen.mounts = lines(slurp("/proc/self/mountinfo"));
  seen.groups = groups_of(::getpid());
  return seen;
}

void make_ids(Manager& manager, const Request& like) {
  constexpr std::size_t kAtOnce = 4;
  std::vector<std::shared_ptr<Process>> together;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    Request waiting;
    waiting.program = "/bin/cat";
    waiting.cwd = like.cwd;
    waiting.grants = like.grants;
    waiting.in = Input::pipe();
    together.push_back(manager.create(std::move(waiting)).value());
    ASSERT_TRUE(together.back()->start());
  }
  for (auto& process : together) ASSERT_TRUE(process->close_stdin() && process->wait());
}

Traces traces_at_rest() {
  Traces last = traces();
  int unchanged = 0;
  for (int i = 0; i < 200 && unchanged < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    const Traces now = traces();
    unchanged = now == last ? unchanged + 1 : 0;
    last = now;
  }
  return last;
}

Traces traces_settled(const Traces& wanted) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    Traces seen = traces();
    if (seen == wanted || std::chrono::steady_clock::now() > until) return seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool reap_all(Duration patience) {
  // A thread, because there is no wait for any child with an end to it, and SIGCHLD may go to any
  // other thread of ours.
  std::promise<void> all_gone;
  const std::future<void> gone = all_gone.get_future();
  std::thread reaper([told = std::move(all_gone)]() mutable {
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    told.set_value();
  });
  const bool none_left = gone.wait_for(patience) == std::future_status::ready;
  if (none_left) {
    reaper.join();
  } else {
    reaper.detach();  // the test has failed and is about to end
  }
  return none_left;
}

std::size_t groups_of(pid_t supervisor) {
  const std::string part = "-" + std::to_string(supervisor) + "-";
  std::size_t found = 0;
  std::error_code ignored;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at("/sys/fs/cgroup", kOptions, ignored), end;
       !ignored && at != end; at.increment(ignored)) {
    if (!at->is_directory(ignored)) continue;
    const std::string name = at->path().filename();
    if (name.starts_with("run-") && name.find(part) != std::string::npos) ++found;
  }
  return found;
}

std::vector<pid_t> processes_marked(const std::string& mark) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (slurp(entry.path() / "cmdline").find(mark) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

std::size_t resident_bytes() {
  const auto resident = linux_backend::parse_resident_pages(slurp("/proc/self/statm"));
  return resident.value_or(0) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<pid_t> parked() {
  std::vector<pid_t> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    pid_t pid = 0;
    while (children >> pid) {
      std::ifstream status("/proc/" + std::to_string(pid) + "/status");
      bool ended = false;  // one whose run is over may be reaped at any moment
      for (std::string line; std::getline(status, line);) {
        ended = ended || line.starts_with("State:\tZ");
        if (line.starts_with("NSpid:") && line.ends_with("\t2") && !ended) all.push_back(pid);
      }
    }
  }
  return all;
}

}  // namespace cordon::linux_tests
