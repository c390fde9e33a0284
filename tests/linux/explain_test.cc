// Reports of what a program was refused: they are right, and they change nothing.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>

#include "cordon/run.h"
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsEmpty;

Request explained(std::vector<std::string> args) {
  Request request{.program = CORDON_TEST_PROGRAMS_DIR "/explained",
                  .args = std::move(args),
                  .cwd = "/usr",
                  .grants = {Grant::read(CORDON_TEST_PROGRAMS_DIR)}};
  request.timeout = 60s;
  request.explain = true;
  return request;
}

auto names(const std::string& what) { return testing::Field(&Denial::what, what); }
auto is_refused(Denial::Kind kind, const std::string& what, const std::string& allow) {
  return testing::AllOf(testing::Field(&Denial::kind, kind), names(what),
                        testing::Field(&Denial::allow, allow));
}

constexpr auto kPath = Denial::Kind::path;

// As the caller, and as an ordinary user.
class Explained : public testing::TestWithParam<bool> {
 protected:
  void with_manager(const std::function<void(Manager&)>& test) const {
    CORDON_NEEDS_SANDBOX(GetParam());
    in_own_process(GetParam() ? kOrdinaryUser : ::geteuid(), [&] {
      if (const auto manager = make_manager()) test(*manager);
    });
  }
  static std::string file(const Folder& folder, const std::string& name,
                          const std::string& content) {
    std::ofstream(folder.path(name)) << content;
    ::chmod(folder.path(name).c_str(), 0666);
    return folder.path(name);
  }
};

TEST_P(Explained, HiddenFileIsNamedWithItsOption) {
  with_manager([](Manager& manager) {
    const Outcome outcome = run(manager, explained({"open", "/etc/shadow"}));
    EXPECT_EQ(outcome.out, "2\n") << outcome.err;  // ENOENT, as ever
    EXPECT_THAT(outcome.denials, Contains(is_refused(kPath, "/etc/shadow", "--read /etc/shadow")));
  });
}

TEST_P(Explained, OrdinaryMissingFileIsNotReported) {
  with_manager([](Manager& manager) {
    const Outcome outcome =
        run(manager, explained({"open", "/etc/cordon-has-no-such-file", "/usr/none", "none"}));
    EXPECT_EQ(outcome.out, "2\n2\n2\n");
    EXPECT_THAT(outcome.denials, IsEmpty());
  });
}

TEST_P(Explained, RelativePathsAreNamedFromTheRoot) {
  const Folder folder;
  const std::string hidden = file(folder, "hidden", "x");
  with_manager([&](Manager& manager) {
    Request request = explained({"open", "../hidden"});
    ::mkdir(folder.path("in").c_str(), 0777);
    request.cwd = folder.path("in");
    EXPECT_THAT(run(manager, request).denials,
                Contains(is_refused(kPath, hidden, "--read " + hidden)));
  });
}

TEST_P(Explained, WritingToAReadOnlyGrantIsNamed) {
  const Folder folder;
  const std::string path = file(folder, "file", "x");
  with_manager([&](Manager& manager) {
    Request request = explained({"write", path});
    request.grants.push_back(Grant::read(folder.path()));
    const Outcome outcome = run(manager, request);
    EXPECT_EQ(outcome.out, std::to_string(EROFS) + "\n");
    EXPECT_THAT(outcome.denials, Contains(is_refused(kPath, path, "--write " + path)));

    request.args = {"create", folder.path("new")};
    EXPECT_THAT(run(manager, request).denials,
                Contains(is_refused(kPath, folder.path("new"), "--write " + folder.path())));
  });
}

TEST_P(Explained, WhatIsAllowedIsNotReported) {
  const Folder folder;
  const std::string path = file(folder, "file", "x");
  with_manager([&](Manager& manager) {
    Request request = explained({"write", path, "/tmp/../dev/null"});
    // Without an idmap a root caller could not grant it on every file system.
    request.grants.push_back(Grant::tmpfs("/scratch"));
    request.args = {"create", "/scratch/new", "/tmp/new"};
    const Outcome outcome = run(manager, request);
    EXPECT_EQ(outcome.out, "0\n0\n") << outcome.err;
    EXPECT_THAT(outcome.denials, IsEmpty());
  });
}

TEST_P(Explained, RefusedSystemCallsAreNamedAndFailAsWithoutIt) {
  with_manager([](Manager& manager) {
    const std::vector<std::pair<long, std::string>> calls = {
        {SYS_mount, "mount"},     {SYS_ptrace, "ptrace"},
        {SYS_bpf, "bpf"},         {SYS_io_uring_setup, "io_uring_setup"},
        {SYS_chroot, "chroot"},   {SYS_kexec_load, "kexec_load"},
        {SYS_setns, "setns"},     {SYS_init_module, "init_module"},
        {SYS_add_key, "add_key"}, {SYS_userfaultfd, "userfaultfd"}};
    Request request = explained({"call"});
    for (const auto& [number, name] : calls) request.args.push_back(std::to_string(number));
    const Outcome outcome = run(manager, request);
    request.explain = false;
    const Outcome before = run(manager, request);
    EXPECT_EQ(outcome.out, before.out);
    EXPECT_THAT(before.denials, IsEmpty());
    for (const auto& [number, name] : calls) {
      EXPECT_THAT(outcome.denials, Contains(is_refused(Denial::Kind::system_call, name, "")));
    }
  });
}

TEST_P(Explained, RefusedConnectIsNamed) {
  with_manager([](Manager& manager) {
    Request request = explained({"connect", "8080"});
    EXPECT_THAT(run(manager, request).denials,
                Contains(is_refused(Denial::Kind::connect, "127.0.0.1:8080", "--net loopback")));
    request.network = Network::loopback;
    EXPECT_THAT(run(manager, request).denials, IsEmpty());
  });
}

TEST_P(Explained, HiddenProgramIsNamed) {
  const Folder folder;
  const std::string tool = file(folder, "tool", "#!/bin/sh\n");
  ::chmod(tool.c_str(), 0777);
  with_manager([&](Manager& manager) {
    EXPECT_THAT(run(manager, explained({"execute", tool})).denials,
                Contains(is_refused(Denial::Kind::exec, tool, "--read " + tool)));
  });
}

TEST_P(Explained, ChildrenAreHeardToo) {
  with_manager([](Manager& manager) {
    const Outcome outcome = run(manager, explained({"child", "/etc/shadow"}));
    EXPECT_EQ(outcome.out, "2\n") << outcome.err;
    EXPECT_THAT(outcome.denials, Contains(names("/etc/shadow")));
  });
}

TEST_P(Explained, EveryCallOfManyThreadsIsAnsweredAndCounted) {
  with_manager([](Manager& manager) {
    const Outcome outcome = run(manager, explained({"hammer", "4", "2500", "/etc/shadow"}));
    EXPECT_EQ(outcome.out, "failed 10000\n");
    EXPECT_THAT(outcome.denials,
                Contains(testing::AllOf(names("/etc/shadow"),
                                        testing::Field(&Denial::count, std::uint64_t{10000}))));
  });
}

// The path is read by the observer and then by the kernel: what differs can only spoil the report.
TEST_P(Explained, PathThatChangesMeanwhileDecidesNothing) {
  const Folder folder;
  ::mkdir(folder.path("in").c_str(), 0777);
  ::mkdir(folder.path("no").c_str(), 0777);
  const std::string good = file(folder, "in/file", "public");
  const std::string bad = file(folder, "no/file", "secret");
  with_manager([&](Manager& manager) {
    Request request = explained({"race", good, bad, "5000"});
    request.grants.push_back(Grant::read(folder.path("in")));
    const Outcome outcome = run(manager, request);
    EXPECT_EQ(outcome.out, "clean\n") << outcome.err;
    for (const Denial& denial : outcome.denials) EXPECT_NE(denial.what, good);
  });
}

TEST_P(Explained, DifferentOnesAreBoundedAndTheRestCounted) {
  const Folder folder;
  std::vector<std::string> args{"open"};
  for (int i = 0; i < 150; ++i) args.push_back(file(folder, std::to_string(i), "x"));
  with_manager([&](Manager& manager) {
    const Outcome outcome = run(manager, explained(args));
    EXPECT_EQ(outcome.denials.size(), kMostDenials);
    EXPECT_EQ(outcome.denials_omitted, 50U);
  });
}

TEST_P(Explained, DeadlineHolds) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0666), 0);
  with_manager([&](Manager& manager) {
    for (const char* const what : {"open", "for-ever"}) {
      Request request = explained({what, folder.path("fifo")});
      request.grants.push_back(Grant::read(folder.path()));
      if (std::string_view(what) == "for-ever") request.args[1] = "/etc/shadow";
      request.timeout = 300ms;
      request.grace = 50ms;
      const Outcome outcome = run(manager, request);
      EXPECT_EQ(outcome.verdict, Verdict::timeout) << what;
      EXPECT_LT(outcome.wall, 5s) << what;
    }
  });
}

TEST_P(Explained, ProgramHasNoDescriptorOfTheListener) {
  with_manager([](Manager& manager) {
    Request request = explained({"-l", "/proc/self/fd"});
    request.program = "/bin/ls";
    const Outcome outcome = run(manager, request);
    EXPECT_THAT(outcome.out, testing::HasSubstr(" 2 -> "));
    EXPECT_THAT(outcome.out, testing::Not(testing::HasSubstr("seccomp")));
    EXPECT_THAT(outcome.out, testing::Not(testing::HasSubstr("4 -> ")));
  });
}

TEST_P(Explained, ProgramCannotListenItself) {
  with_manager([](Manager& manager) {
    EXPECT_EQ(run(manager, explained({"listen"})).out, std::to_string(EBUSY) + "\n");
  });
}

TEST_P(Explained, ProgramThatCannotStartSaysWhyAsEver) {
  with_manager([](Manager& manager) {
    Request request = explained({});
    request.program = "/usr/no-such-program";
    const Outcome outcome = run(manager, request);
    EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code, ErrorCode::not_found);
  });
}

TEST_P(Explained, NothingIsLeftOfTheObserver) {
  with_manager([](Manager& manager) {
    const auto runs = [&] {
      for (int i = 0; i < 20; ++i) (void)run(manager, explained({"open", "/etc/shadow"}));
    };
    make_ids(manager, explained({}));
    runs();  // what is made ahead is there from now on
    const Traces before = traces_at_rest();
    runs();
    EXPECT_EQ(traces_settled(before), before);
  });
}

// A supervisor of its own, with programs that wait for its end to let themselves through.
[[noreturn]] void supervise(int ready, const std::string& file, const std::string& folder) {
  auto manager = make_manager();
  std::vector<std::shared_ptr<Process>> started;
  for (const char* const what : {"take-over", "take-over", "for-ever"}) {
    Request request = explained({what, file});
    request.grants.push_back(Grant::write(folder));
    request.out = Output::events({.mode = OutputMode::line});
    auto process = manager->create(std::move(request));
    if (!process || !(*process)->start()) ::_exit(1);
    EventStream events = (*process)->events();
    if (std::string_view(what) == "take-over") {
      const auto event = events.next_for(20s);
      if (!event || !*event || (*event)->data.str() != "0") ::_exit(1);
    }
    started.push_back(std::move(*process));
  }
  (void)!::write(ready, "", 1);
  for (;;) ::pause();
}

void kill_supervisors(int count, const Folder& folder) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  const std::string taken = folder.path("taken-" + std::to_string(::getpid()));
  for (int i = 0; i < count; ++i) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t supervisor = ::fork();
    ASSERT_GE(supervisor, 0);
    if (supervisor == 0) supervise(ready[1], taken, folder.path());
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::kill(supervisor, SIGKILL);
    EXPECT_TRUE(reap_all(10s)) << "something outlives its supervisor";
    EXPECT_THAT(processes_marked(taken), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(taken)) << "a refused call was let through";
  }
  make_manager().reset();  // sweeps
}

TEST_P(Explained, NothingPassesWhenTheSupervisorIsKilled) {
  CORDON_NEEDS_SANDBOX(GetParam());
  const Folder folder;
  in_own_process(GetParam() ? kOrdinaryUser : ::geteuid(), [&] { kill_supervisors(5, folder); });
}

INSTANTIATE_TEST_SUITE_P(, Explained, testing::Bool(), [](const auto& ordinary) {
  return ordinary.param ? "OrdinaryUser" : "Caller";
});

}  // namespace
}  // namespace cordon::linux_tests
