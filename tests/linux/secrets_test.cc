// A secret on its way into a sandbox: the processes that make it never have it, not even for a
// moment.
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "base/fd.h"
#include "linux/harness.h"
#include "support/leak_scan.h"

namespace cordon::linux_tests {
namespace {

using linux_backend::ScriptBuilder;
using linux_backend::spawner::Op;
using linux_backend::spawner::Role;
using support::Leak;
using testing::Contains;
using testing::IsEmpty;

constexpr std::string_view kCanary = "canary-8d1c7f0e5b6a4932-on-its-way";

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }
  base::Fd reader;
  base::Fd writer;
};

// Makes the set-up process, when it has done everything, and the program, at its beginning, say
// that they are there, and wait. Init waits for the program then. Or the program, when it has its
// letter.
class Pause {
 public:
  explicit Pause(ScriptBuilder::Kind where) : where_(where) {}

  void add_to(ScriptBuilder& script) {
    if (script.kind() != where_) return;
    const int said = script.send_fd(said_.writer.get());
    const int released = script.send_fd(released_.reader.get());
    const std::uint64_t byte = script.object(std::uint64_t{0});
    const auto insert = [&](Role role, std::size_t at) {
      const auto call = [&](long number, int fd) {
        script.insert_step(role, at,
                           {.op = Op::call,
                            .number = static_cast<std::int32_t>(number),
                            .args = {static_cast<std::uint64_t>(fd), byte, 1}});
      };
      call(__NR_read, released);  // the one that is inserted last comes first
      call(__NR_write, said);
    };
    if (where_ == ScriptBuilder::Kind::set_up) {
      insert(Role::setup, script.steps(Role::setup).size() - 1);
    }
    insert(Role::program, where_ == ScriptBuilder::Kind::set_up ? 1 : 0);
  }
  [[nodiscard]] bool reached() const {
    for (int process = 0; process < processes(); ++process) {
      pollfd waiting{.fd = said_.reader.get(), .events = POLLIN, .revents = 0};
      char byte = 0;
      if (::poll(&waiting, 1, 20'000) != 1 || ::read(said_.reader.get(), &byte, 1) != 1) {
        return false;
      }
    }
    return true;
  }
  void release() const { EXPECT_EQ(::write(released_.writer.get(), "go", 2), 2); }
  // That wait.
  [[nodiscard]] int processes() const { return where_ == ScriptBuilder::Kind::set_up ? 2 : 1; }

 private:
  ScriptBuilder::Kind where_;
  Pipe said_;
  Pipe released_;
};

// What is found in the sandbox's processes while it is set up.
std::vector<Leak> leaks_while_paused(const Request& request,
                                     ScriptBuilder::Kind where = ScriptBuilder::Kind::set_up) {
  Pause pause(where);
  auto manager = make_manager({.script = [&](ScriptBuilder& script) { pause.add_to(script); }});
  if (!manager) return {};
  Outcome outcome;
  std::thread run([&] { outcome = run_to_end(*manager, request); });
  const bool reached = pause.reached();
  auto scan = support::scan_processes(::getpid(), kCanary);
  pause.release();
  run.join();
  EXPECT_TRUE(reached);
  EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
  const auto paused = static_cast<std::size_t>(pause.processes());
  EXPECT_GE(scan.processes, 3U + paused) << "supervisor, spawner, init, and those that wait";
  EXPECT_GT(scan.memory_read["cordon-spawner"], (1 + paused) * 8 * 1024 * 1024)
      << "the place of the script, in the spawner and in those that wait";
  std::erase_if(scan.leaks, [](const Leak& leak) {
    // The supervisor is this test; a descriptor is what they are meant to have.
    return !leak.process.starts_with("cordon") || leak.place == "descriptor";
  });
  return scan.leaks;
}

Request request_with(Secret::Delivery delivery, const std::string& script) {
  Request request;
  request.program = "sh";
  request.args = {"-c", script};
  request.cwd = "/usr";
  request.secrets = {{"C", SecretValue::copy_of(kCanary).value(), delivery}};
  return request;
}

TEST(SecretsOnTheirWay, AreInNoProcessWhileTheSandboxIsSetUp) {
  CORDON_NEEDS_SANDBOX(false);
  if (::geteuid() != 0) GTEST_SKIP() << "user: only root sees the memory of others";
  const std::string length = std::to_string(kCanary.size());
  in_own_process([&] {
    EXPECT_THAT(leaks_while_paused(request_with(Secret::Delivery::env, "test ${#C} = " + length)),
                IsEmpty());
    EXPECT_THAT(leaks_while_paused(request_with(Secret::Delivery::env, "test ${#C} = " + length),
                                   ScriptBuilder::Kind::letter),
                IsEmpty());
    EXPECT_THAT(
        leaks_while_paused(request_with(Secret::Delivery::fd, "test $(wc -c <&$C_FD) = " + length)),
        IsEmpty());
    EXPECT_THAT(leaks_while_paused(
                    request_with(Secret::Delivery::file, "test $(wc -c <$C_FILE) = " + length)),
                IsEmpty());
  });
}

TEST(SecretsOnTheirWay, WouldBeFoundThere) {
  CORDON_NEEDS_SANDBOX(false);
  if (::geteuid() != 0) GTEST_SKIP() << "user: only root sees the memory of others";
  in_own_process([] {
    Request request = request_with(Secret::Delivery::env, "true");
    request.secrets.clear();
    request.env = {{"C", std::string(kCanary)}};
    EXPECT_THAT(leaks_while_paused(request), IsEmpty()) << "it is not needed there yet";
    EXPECT_THAT(leaks_while_paused(request, ScriptBuilder::Kind::letter),
                Contains(Leak{"cordon-spawner", "memory"}));
  });
}

}  // namespace
}  // namespace cordon::linux_tests
