// A canary that the program receives, and that is nowhere else: not in what any process of ours
// shows of itself while the program runs, nor in what is left of the run.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/sha256.h"
#include "fixture.h"
#include "support/leak_scan.h"

namespace cordon::cli {
namespace {

using support::Leak;
using support::LeakScan;
using support::scan_files;
using support::scan_processes;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string random_canary() {
  std::random_device random;
  std::string text = "canary-";
  for (int i = 0; i < 8; ++i) text += std::to_string(random()) + ".";
  return text;
}

class SecretLeaks : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "user: only root sees the memory of others";
    ASSERT_EQ(::mkdir(path("tmp").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir(path("kept").c_str(), 0700), 0);
    (void)file("kept/value", canary_ + "\n");
  }

  // Starts a program that prints the digest of what it got, and waits for a line.
  [[nodiscard]] Running start(const std::string& secret, std::vector<std::string> options,
                              const std::string& variable = {}) const {
    std::vector<std::string> arguments = {"run", "--report", path("report.json"), "--cwd", "/usr"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    if (!secret.empty()) arguments.insert(arguments.end(), {"--secret", secret});
    arguments.insert(arguments.end(), {"--", "sh", "-c",
                                       "if [ \"$C_FILE\" ]; then C=$(cat \"$C_FILE\"); fi; "
                                       "if [ \"$C_FD\" ]; then C=$(cat <&$C_FD); fi; "
                                       "printf %s \"$C\" | sha256sum; read line; "
                                       "echo \"$C\"; echo \"$C\" >&2"});
    Command command(arguments);
    command.keep_input_open().environment("TMPDIR", path("tmp"));
    if (!variable.empty()) command.environment(variable, canary_);
    return command.start();
  }
  [[nodiscard]] std::string digest() const { return base::to_hex(base::sha256(canary_)); }

  // What is found outside the program and the command's locked memory.
  [[nodiscard]] static std::vector<Leak> undeclared(const LeakScan& scan) {
    std::vector<Leak> leaks = scan.leaks;
    std::erase_if(leaks, [](const Leak& leak) {
      return leak.process == "sh" || leak == Leak{"cordon", "locked memory"};
    });
    return leaks;
  }

  void run_and_scan(const std::string& secret, std::vector<std::string> options,
                    const std::vector<std::string>& processes, const std::string& variable = {});

  std::string canary_ = random_canary();
};

void SecretLeaks::run_and_scan(const std::string& secret, std::vector<std::string> options,
                               const std::vector<std::string>& processes,
                               const std::string& variable) {
  SCOPED_TRACE(secret);
  options.emplace_back("--redact");
  Running running = start(secret, std::move(options), variable);
  ASSERT_TRUE(running.reads(digest())) << "the program did not get it";
  const LeakScan scan = scan_processes(running.pid(), canary_);
  EXPECT_THAT(undeclared(scan), IsEmpty());
  for (const std::string& name : processes) {
    EXPECT_GT(scan.memory_read.contains(name) ? scan.memory_read.at(name) : 0, 4096U)
        << "nothing was seen of " << name;
  }
  running.types("\n");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, digest() + "  -\n[redacted C]\n");
  EXPECT_EQ(ended.err, "[redacted C]\n");
  EXPECT_THAT(scan_files(directory(), canary_, path("kept/value")), IsEmpty());
  EXPECT_THAT(scan_files("/run/cordon", canary_), IsEmpty());
  EXPECT_THAT(read_file(path("report.json")), HasSubstr("exited"));
}

TEST_F(SecretLeaks, NoProcessOfASandboxShowsIt) {
  const std::vector<std::string> ours = {"cordon", "cordon-spawner", "cordon-init", "sh"};
  for (const std::string as : {"env", "fd", "file"}) {
    run_and_scan("C=file:" + path("kept/value") + ",as=" + as, {}, ours);
    run_and_scan("C=command:cat " + path("kept/value") + ",as=" + as, {}, ours);
    // Its source is wiped: so the command's own environment does not show it either.
    run_and_scan("C=env:SOURCE,as=" + as, {"--env-pass", "*"}, ours, "SOURCE");
  }
}

TEST_F(SecretLeaks, NoProcessOfThePosixBackendShowsIt) {
  for (const std::string as : {"env", "fd"}) {
    run_and_scan("C=file:" + path("kept/value") + ",as=" + as, {"--backend", "posix"},
                 {"cordon", "sh"});
  }
}

TEST_F(SecretLeaks, CapturedOutputHasNone) {
  const Ended ended = cordon({"run", "--json", "--secret", "C=file:" + path("kept/value"), "--",
                              "sh", "-c", "echo $C; echo $C | base64 -w0; echo $C | od -tx1 >&2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("[redacted C]"));
  EXPECT_THAT(ended.out, Not(HasSubstr(canary_)));
}

// The scan finds what it is meant to find, in each of the places that it looks at.
TEST_F(SecretLeaks, PlantedOnesAreFound) {
  {  // An argument: in the command's memory, too, and nowhere locked.
    Running running = start("", {"--env", "C=" + canary_});
    ASSERT_TRUE(running.reads(digest()));
    const LeakScan scan = scan_processes(running.pid(), canary_);
    EXPECT_THAT(scan.leaks, Contains(Leak{"cordon", "cmdline"}));
    EXPECT_THAT(scan.leaks, Contains(Leak{"cordon", "memory"}));
    EXPECT_THAT(scan.leaks, Not(Contains(Leak{"cordon", "locked memory"})));
    EXPECT_THAT(scan.leaks, Contains(Leak{"sh", "environ"})) << "that is where the program has it";
    running.types("\n");
    EXPECT_EQ(running.wait().status, 0);
  }
  {  // A variable of the command that is not a secret's source.
    Running running = start("C=file:" + path("kept/value"), {}, "LEFT_BEHIND");
    ASSERT_TRUE(running.reads(digest()));
    const LeakScan scan = scan_processes(running.pid(), canary_);
    EXPECT_THAT(undeclared(scan), Contains(Leak{"cordon", "environ"}));
    // Something that helpers do have in their memory is seen there.
    const LeakScan known = scan_processes(running.pid(), "cordon-spawner");
    EXPECT_THAT(known.leaks, Contains(Leak{"cordon-init", "memory"}));
    EXPECT_THAT(known.leaks, Contains(Leak{"cordon-spawner", "memory"}));
    EXPECT_THAT(known.leaks, Contains(Leak{"cordon-spawner", "cmdline"}));
    running.types("\n");
    EXPECT_EQ(running.wait().status, 0);
  }
  std::ofstream(path("tmp/left")) << "x" << canary_ << "y";
  EXPECT_THAT(scan_files(directory(), canary_, path("kept/value")),
              testing::ElementsAre(path("tmp/left")));
}

// The command, as an ordinary user types it.
std::vector<std::string> as_user(std::vector<std::string> arguments) {
  std::vector<std::string> all = {"setpriv", "--reuid", "12345",
                                  "--regid", "12345",   "--clear-groups"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

bool user_can_run() {
  return Command::program(as_user({"test", "-x", CORDON_COMMAND})).run().status == 0;
}

// The kernel lets no other process of the user look at one that is not dumpable, and makes no core
// of it: then its files in /proc belong to root.
TEST_F(SecretLeaks, TheCommandIsNotDumpable) {
  if (!user_can_run()) CORDON_SKIP("user", "needs a build folder that others may read");
  const auto owner = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments = as_user({CORDON_COMMAND, "run", "--backend", "posix"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", "echo ready; read line"});
    Running running =
        Command::program(arguments).keep_input_open().environment("SOURCE", canary_).start();
    EXPECT_TRUE(running.reads("ready"));
    struct stat info{};
    EXPECT_EQ(::stat(("/proc/" + std::to_string(running.pid()) + "/environ").c_str(), &info), 0);
    running.types("\n");
    EXPECT_EQ(running.wait().status, 0);
    return info.st_uid;
  };
  EXPECT_EQ(owner({}), 12345U);
  EXPECT_EQ(owner({"--secret", "C=env:SOURCE"}), 0U);
}

TEST_F(SecretLeaks, AnOrdinaryUsersSandboxGetsIt) {
  if (!user_can_run()) CORDON_SKIP("user", "needs a build folder that others may read");
  const std::vector<std::string> secrets = {"--secret", "C=env:SOURCE",
                                            "--secret", "D=env:SOURCE,as=fd",
                                            "--secret", "E=env:SOURCE,as=file"};
  std::vector<std::string> arguments = as_user({CORDON_COMMAND, "run", "--cwd", "/usr"});
  arguments.insert(arguments.end(), secrets.begin(), secrets.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c",
                                     "printf %s \"$C\" | sha256sum; cat <&$D_FD | sha256sum; "
                                     "cat $E_FILE | sha256sum"});
  const Ended ended = Command::program(arguments).environment("SOURCE", canary_).run();
  const std::string line = digest() + "  -\n";
  EXPECT_EQ(ended.out, line + line + line) << ended.err;
}

}  // namespace
}  // namespace cordon::cli
