// Nothing outlives a supervisor that is killed while the set-up of a sandbox is at a given step,
// for every step there is.
//   CORDON_SOAK_STEPS  how many of the steps with the same name
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_table.h"
#include "base/fd.h"
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using linux_backend::ScriptBuilder;
using linux_backend::spawner::kStatusFd;
using linux_backend::spawner::Op;
using linux_backend::spawner::Role;
using linux_backend::spawner::Step;

enum State : std::uint32_t { none, reached, none_left, failed };

// Shared by the test, the supervisor and the sandbox's processes: writing to memory is the one
// thing that a process can do at every step, without a descriptor and behind every filter.
struct Page {
  std::atomic<std::uint32_t> state{none};
  Role role{};
  char step[256] = {};
};
constexpr std::uint64_t kPlace = 0x2'0000'0000;  // in the sandbox's processes
constexpr std::size_t kPageSize = 4096;
static_assert(sizeof(Page) <= kPageSize);

class Shared {
 public:
  Shared() : file_(::memfd_create("cordon-test", MFD_CLOEXEC)) {
    if (!file_ || ::ftruncate(file_.get(), kPageSize) != 0) std::abort();
    void* at = ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (at == MAP_FAILED) std::abort();
    page_ = new (at) Page;
  }
  ~Shared() { ::munmap(page_, kPageSize); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  [[nodiscard]] Page& operator*() const { return *page_; }
  [[nodiscard]] Page* operator->() const { return page_; }
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  base::Fd file_;
  Page* page_ = nullptr;
};

// Script, role and name of a step, and which of those with that name it is.
using Key = std::string;

struct Chosen {
  Role role;
  std::size_t index;
  Key key;
};

std::optional<Chosen> first_not_in(const std::set<Key>& done, const ScriptBuilder& script) {
  const int most = count_from("CORDON_SOAK_STEPS", 1);
  for (const Role role : {Role::setup, Role::init, Role::program}) {
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < script.steps(role).size(); ++i) {
      // Nothing comes behind exec; init, once ready, only sleeps.
      const Op op = script.steps(role)[i].op;
      if (op == Op::give_up ||
          (role == Role::init && i > 0 && script.steps(role)[i - 1].op == Op::ready)) {
        break;
      }
      const std::string name = script.explain(role, static_cast<std::uint32_t>(i)).name;
      const int count = ++seen[name];
      const bool letter = script.kind() == ScriptBuilder::Kind::letter;
      const Key key = (letter ? "letter " : "set-up ") + std::to_string(static_cast<int>(role)) +
                      " " + name + " " + std::to_string(count);
      if (count <= most && !done.contains(key)) return Chosen{role, i, key};
    }
  }
  return std::nullopt;
}

// Before this step the process says that it is there, and waits until its supervisor is dead.
void hold_at(ScriptBuilder& script, const Chosen& chosen, int page) {
  // Descriptors are closed on the way, and init may do little more than read from its own. Nothing
  // is sent there before it has parked.
  const auto& steps = script.steps(chosen.role);
  const bool filtered = chosen.role == Role::init && steps[chosen.index].op == Op::ready;
  Step wait{.op = Op::call, .number = __NR_read, .args = {kStatusFd, kPlace + kPageSize / 2, 1}};
  if (!filtered) {
    const pollfd hang_up{.fd = kStatusFd, .events = 0, .revents = 0};
    constexpr int kPatience = 20'000;
    wait.number = __NR_poll;
    wait.args[0] = script.object(hang_up);
    wait.args[1] = 1;
    wait.args[2] = kPatience;
  }
  script.insert_step(chosen.role, chosen.index, wait);
  script.insert_step(chosen.role, chosen.index, {.op = Op::store, .args = {kPlace, reached}});
  const bool letter = script.kind() == ScriptBuilder::Kind::letter;
  script.insert_step(letter ? Role::program : Role::setup, 0,
                     {.op = Op::call,
                      .number = __NR_mmap,
                      .args = {kPlace, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                               static_cast<std::uint64_t>(script.send_fd(page)), 0}});
}

// A place of its own for the control groups, where it can be had: in the common one another
// supervisor, which may start at any time, would end what has been left there.
class OwnPlace {
 public:
  OwnPlace() : name_("cordon-test-steps-" + std::to_string(::getpid())) {
    if (::geteuid() != 0 || !linux_backend::open_cgroup_parent(name_)) name_.clear();
  }
  ~OwnPlace() {
    if (name_.empty()) return;
    std::ifstream file("/proc/self/mountinfo");
    const std::string mounts(std::istreambuf_iterator<char>(file), {});
    for (const auto& mount : linux_backend::parse_mountinfo(mounts)) {
      ::rmdir((mount.point + "/" + name_).c_str());
    }
  }
  OwnPlace(const OwnPlace&) = delete;
  OwnPlace& operator=(const OwnPlace&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  // As the next supervisor does.
  void sweep() const {
    if (const auto parent = linux_backend::open_cgroup_parent(name_)) (*parent)->sweep();
  }

 private:
  std::string name_;
};

struct Attempt {
  Shared& shared;
  const std::set<Key>& done;
  const Folder& folder;
  std::string mark;
  std::string cgroup_parent;
};

[[noreturn]] void supervise(const Attempt& attempt, bool made_ahead) {
  bool armed = !made_ahead;
  const auto hook = [&](ScriptBuilder& script) {
    if (!armed) return;
    const auto chosen = first_not_in(attempt.done, script);
    if (!chosen && script.kind() == ScriptBuilder::Kind::set_up) return;  // the letter is to come
    if (!chosen) {
      attempt.shared->state = none_left;
      return;
    }
    std::snprintf(attempt.shared->step, sizeof attempt.shared->step, "%s", chosen->key.c_str());
    attempt.shared->role = chosen->role;
    hold_at(script, *chosen, attempt.shared.fd());
  };
  auto manager = make_manager({.script = hook, .nothing_ahead = !made_ahead});
  if (!manager) {
    attempt.shared->state = failed;
    ::_exit(1);
  }
  const auto request = [&](const char* command) {
    Request made = misbehave({});
    made.args = {"-c", command, made.program, attempt.folder.path("ran"), attempt.mark};
    made.program = "/bin/sh";
    made.grants.push_back(Grant::write(attempt.folder.path()));
    made.limits.memory_bytes = 256 << 20;
    made.limits.processes = 32;
    made.limits.open_files = 64;
    made.network = Network::loopback;
    made.cgroup_parent = attempt.cgroup_parent;
    made.out = Output::discard();
    made.timeout = 60s;
    return made;
  };
  // From the second run on, things are made ahead.
  if (made_ahead) {
    for (int i = 0; i < 2; ++i) (void)run_to_end(*manager, request(":"));
  }
  armed = true;
  auto process = manager->create(request("echo > \"$1\"; exec \"$0\" stubborn \"$2\""));
  if (!process || !(*process)->start()) attempt.shared->state = failed;
  for (;;) ::pause();
}

State wait_for_step(const Page& page) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (page.state == none && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(50us);
  }
  return static_cast<State>(page.state.load());
}

void kill_at_each_step(bool made_ahead) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  const Traces before = traces();
  const Folder folder;
  const OwnPlace place;
  std::set<Key> done;
  std::vector<pid_t> killed;
  for (;;) {
    Shared shared;
    const Attempt attempt{.shared = shared,
                          .done = done,
                          .folder = folder,
                          .mark = "cordon-mark-" + std::to_string(::getpid()),
                          .cgroup_parent = place.name()};
    const pid_t supervisor = ::fork();
    ASSERT_GE(supervisor, 0);
    if (supervisor == 0) supervise(attempt, made_ahead);
    const State state = wait_for_step(*shared);
    SCOPED_TRACE(shared->step);
    ::kill(supervisor, SIGKILL);
    EXPECT_TRUE(reap_all(10s)) << "something outlives its supervisor";
    EXPECT_THAT(processes_marked(attempt.mark), testing::IsEmpty());
    killed.push_back(supervisor);
    if (state == none_left || testing::Test::HasFailure()) break;
    ASSERT_EQ(state, reached);
    const std::string step = shared->step;
    // Once it is released, it may run until its init is dead.
    if (step.find(" execute ") == std::string::npos && shared->role != Role::init) {
      EXPECT_FALSE(std::filesystem::exists(folder.path("ran"))) << "the program ran";
    }
    std::filesystem::remove(folder.path("ran"));
    done.insert(step);
  }
  make_manager().reset();  // the groups are left to the next supervisor
  place.sweep();
  std::size_t left = 0;
  for (const pid_t supervisor : killed) left += groups_of(supervisor);
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(traces_settled(before), before);
  EXPECT_GT(done.size(), 20U);
  if (!testing::Test::HasFailure()) {
    std::printf("figure: killed at %zu steps, 0 survivors\n", done.size());
  }
}

enum class Whose : std::uint8_t { whole, made_ahead, ordinary };

class SupervisorKilledAtEachStep : public testing::TestWithParam<Whose> {};

TEST_P(SupervisorKilledAtEachStep, LeavesNothing) {
  const bool ordinary = GetParam() == Whose::ordinary;
  CORDON_NEEDS_SANDBOX(ordinary);
  in_own_process(ordinary ? kOrdinaryUser : ::geteuid(),
                 [] { kill_at_each_step(GetParam() == Whose::made_ahead); });
}

std::string name_of(const testing::TestParamInfo<Whose>& whose) {
  if (whose.param == Whose::ordinary) return "OrdinaryUser";
  return whose.param == Whose::whole ? "Caller" : "MadeAhead";
}

INSTANTIATE_TEST_SUITE_P(, SupervisorKilledAtEachStep,
                         testing::Values(Whose::whole, Whose::made_ahead, Whose::ordinary),
                         name_of);

}  // namespace
}  // namespace cordon::linux_tests
