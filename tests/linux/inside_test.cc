// Programs in a long-lived sandbox: what they share, and what each has of its own.
#include <chrono>
#include <csignal>

#include "linux/inside_harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(, InsideTest, testing::Bool(),
                         [](const auto& user) { return user.param ? "ordinary" : "caller"; });

Outcome run_inside(supervise::Container& container, Request request) {
  return run(container.inside(), std::move(request));
}

TEST_P(InsideTest, FilesOfOneAreSeenByTheNext) {
  inside(sleeper(), [](supervise::Container& container) {
    EXPECT_EQ(run_inside(container, shell("echo kept > /tmp/file")).exit_code, 0);
    EXPECT_EQ(run_inside(container, shell("cat /tmp/file")).out, "kept\n");
    EXPECT_FALSE(std::filesystem::exists("/tmp/file"));
  });
}

TEST_P(InsideTest, ProgramsSeeEachOther) {
  inside(sleeper(), [](supervise::Container& container) {
    const Outcome seen = run_inside(container, shell("cat /proc/3/cmdline | tr '\\0' ' '"));
    EXPECT_EQ(seen.out, "/bin/sleep infinity ");
    // And may signal each other: they are one user in one sandbox.
    auto other = container.inside().create(shell("exec sleep 60")).value();
    ASSERT_TRUE(other->start());
    const Outcome killer = run_inside(
        container, shell("for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline | grep -q '^sleep 60' "
                         "&& kill -USR1 ${p#/proc/}; done; true"));
    EXPECT_EQ(killer.exit_code, 0) << killer.err;
    const Outcome ended = other->wait().value();
    EXPECT_EQ(ended.verdict, Verdict::signaled);
    EXPECT_EQ(ended.termination.signal, SIGUSR1);
  });
}

TEST_P(InsideTest, ItsVariablesAreTheSandboxsAndItsOwn) {
  Request main = sleeper();
  main.env = {{"OF_ALL", "1"}, {"CHANGED", "1"}};
  inside(main, [](supervise::Container& container) {
    Request request = shell("echo $OF_ALL $CHANGED $OWN; pwd");
    request.env = {{"CHANGED", "2"}, {"OWN", "3"}};
    request.cwd = "/tmp";
    EXPECT_EQ(run_inside(container, request).out, "1 2 3\n/tmp\n");
    EXPECT_EQ(run_inside(container, shell("echo $OF_ALL $CHANGED $OWN; pwd")).out, "1 1\n/usr\n");
  });
}

TEST_P(InsideTest, HasATerminalOfItsOwn) {
  inside(sleeper(), [](supervise::Container& container) {
    Request request = shell("test -t 0 && test -t 1 && stty size </dev/tty");
    request.terminal = TerminalSize{.rows = 33, .columns = 77};
    request.in = Input::pipe();
    const Outcome seen = run_inside(container, request);
    EXPECT_EQ(seen.exit_code, 0) << seen.out;
    EXPECT_THAT(seen.out, HasSubstr("33 77"));
  });
}

TEST_P(InsideTest, LimitsAreEachOnesOwn) {
  inside(sleeper(), [](supervise::Container& container) {
    auto other = container.inside().create(shell("sleep 60")).value();
    ASSERT_TRUE(other->start());
    Request greedy = shell("head -c 200M /dev/zero | tail -c 150M | wc -c");
    greedy.limits.memory_bytes = 32 << 20;
    const Outcome ended = run_inside(container, greedy);
    EXPECT_EQ(ended.verdict, Verdict::memory);
    EXPECT_LE(ended.usage.memory_peak_bytes.value_or(0), 32U << 20);
    Request many = shell("for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; exit 0");
    many.limits.processes = 4;
    const Outcome few = run_inside(container, many);
    EXPECT_THAT(few.err, HasSubstr("fork"));
    EXPECT_LE(few.usage.processes_peak.value_or(99), 4U);
    EXPECT_TRUE(other->running());
    EXPECT_TRUE(container.main()->running());
    EXPECT_EQ(run_inside(container, shell("true")).usage.processes_peak, 1U);
    ASSERT_TRUE(other->kill());
  });
}

TEST_P(InsideTest, LimitsOfTheSandboxBoundAllTogether) {
  Request main = sleeper();
  main.limits.memory_bytes = 64 << 20;
  main.limits.processes = 16;
  inside(main, [](supervise::Container& container) {
    // Each keeps less than it may, the two together more than the sandbox may.
    std::vector<std::shared_ptr<Process>> both;
    for (int i = 0; i < 2; ++i) {
      Request request = shell("head -c 48M /dev/zero | tail -c 47M | { sleep 1; wc -c; }");
      both.push_back(container.inside().create(request).value());
      ASSERT_TRUE(both.back()->start());
    }
    int killed = 0;
    for (auto& one : both) killed += one->wait().value().verdict == Verdict::memory ? 1 : 0;
    EXPECT_GE(killed, 1);
    EXPECT_TRUE(container.main()->running());
    // Fifteen beside main, of which the shell is one.
    const Outcome few = run_inside(
        container, shell("for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7; do sleep 5 & done; exit 0"));
    EXPECT_THAT(few.err, HasSubstr("fork"));
  });
}

TEST_P(InsideTest, MoreThanTheSandboxHasIsRefusedByName) {
  Request main = sleeper();
  main.limits.memory_bytes = 64 << 20;
  inside(main, [](supervise::Container& container) {
    const auto refused = [&](std::string_view field, const auto& ask) {
      Request request = shell("true");
      ask(request);
      const auto made = container.inside().create(std::move(request));
      ASSERT_FALSE(made) << field;
      EXPECT_EQ(made.error().code, ErrorCode::not_permitted) << field;
      EXPECT_THAT(made.error().message, HasSubstr(std::string(field)));
    };
    refused("grants", [](Request& r) { r.grants = {Grant::read("/var")}; });
    refused("network", [](Request& r) { r.network = Network::host; });
    refused("network", [](Request& r) { r.network = Network::loopback; });
    refused("user", [](Request& r) { r.user = User{.uid = 4, .gid = 4}; });
    refused("env_pass", [](Request& r) { r.env_pass.emplace_back("AWS_*"); });
    refused("cgroup_parent", [](Request& r) { r.cgroup_parent = "elsewhere"; });
    refused("pins", [](Request& r) { r.pins = {{.path = "/bin/sh", .fd = 0}}; });
    refused("limits.memory_bytes", [](Request& r) { r.limits.memory_bytes = 65 << 20; });
    Request less = shell("true");
    less.limits.memory_bytes = 32 << 20;
    EXPECT_EQ(run_inside(container, less).exit_code, 0);
  });
}

TEST_P(InsideTest, AsRestrictedAsTheMainOne) {
  Request main = shell(
      "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)' /proc/self/status; ls -l /proc/self/ns | "
      "sed 's/.*-> //'; cat /proc/self/mountinfo; exec >&- 2>&-; exec sleep 60");
  main.cwd = "/usr";
  inside(main, [&](supervise::Container& container) {
    EventStream events = container.main()->events();
    std::string of_main;
    while (auto event = events.next_for(20s)) {
      if (!*event || (*event)->kind == Event::Kind::exit) break;
      of_main += (*event)->data.view();
      Request same = main;
      same.args[1] = same.args[1].substr(0, same.args[1].find("; exec >"));
      if (of_main == run_inside(container, same).out) return;
    }
    ADD_FAILURE() << of_main;
  });
}

TEST_P(InsideTest, NobodyCanLookAtTheNursery) {
  inside(sleeper(), [](supervise::Container& container) {
    const Outcome seen = run_inside(
        container, shell("cat /proc/2/comm; for f in mem environ maps auxv syscall; do cat "
                         "/proc/2/$f; done; ls /proc/2/fd/ /proc/2/root/ /proc/2/cwd/; true"));
    EXPECT_EQ(seen.out, "cordon-nursery\n");
    EXPECT_THAT(seen.err, HasSubstr("/proc/2/mem"));
    EXPECT_THAT(seen.err, HasSubstr("/proc/2/fd"));
  });
}

TEST_P(InsideTest, HundredAtOnceAreToldApart) {
  inside(sleeper(), [](supervise::Container& container) {
    constexpr int kCount = 100;
    constexpr int kLines = 50;
    std::vector<std::shared_ptr<Process>> all;
    for (int i = 0; i < kCount; ++i) {
      const std::string me = std::to_string(i);
      Request request = shell("read go; i=0; while [ $i -lt 50 ]; do echo " + me + " $i; echo e" +
                              me + " $i >&2; i=$((i+1)); done; exit " + std::to_string(i % 7));
      request.in = Input::pipe();
      all.push_back(container.inside().create(std::move(request)).value());
      ASSERT_TRUE(all.back()->start());
    }
    for (auto& one : all) ASSERT_TRUE(one->write_stdin("go\n", 10s));
    for (int i = 0; i < kCount; ++i) {
      EventStream events = all[static_cast<std::size_t>(i)]->events();
      std::string out;
      std::string err;
      while (auto event = events.next()) {
        if (event->kind == Event::Kind::out) out += event->data.view();
        if (event->kind == Event::Kind::err) err += event->data.view();
      }
      std::string wanted_out;
      std::string wanted_err;
      for (int line = 0; line < kLines; ++line) {
        wanted_out += std::to_string(i) + " " + std::to_string(line) + "\n";
        wanted_err += "e" + std::to_string(i) + " " + std::to_string(line) + "\n";
      }
      EXPECT_EQ(out, wanted_out);
      EXPECT_EQ(err, wanted_err);
      EXPECT_EQ(all[static_cast<std::size_t>(i)]->wait().value().exit_code, i % 7);
    }
  });
}

}  // namespace
}  // namespace cordon::linux_tests
