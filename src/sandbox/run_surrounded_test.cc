// A run with everything around it, on scripted programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cordon/memory.h"
#include "cordon/run.h"

namespace cordon {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Surrounded : public testing::Test {
 protected:
  Surrounded() {
    char name[] = "/tmp/cordon-run-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~Surrounded() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0644);
    return path;
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file(folder_ / "log" / "audit-00000001.jsonl");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Surroundings recorded() const {
    return {.audit = audit::Settings{.directory = folder_ / "log"}};
  }

  fs::path folder_;
  memory::Manager manager_;
};

TEST_F(Surrounded, AnAskBeyondThePolicyIsRefusedAndOnRecord) {  // C29, C131
  manager_.add("tool", memory::Program().out("ran"));
  Surroundings around = recorded();
  const auto policy = Policy::load({write("p.toml", "[limits]\nfiles = 64\n")});
  ASSERT_TRUE(policy) << policy.error().message;
  around.policy = *policy;
  Request request{.program = "tool"};
  request.limits.open_files = 65;
  const Outcome outcome = run(manager_, request, around);
  EXPECT_EQ(outcome.verdict, Verdict::denied);
  ASSERT_TRUE(outcome.error);
  EXPECT_THAT(outcome.error->message, HasSubstr("p.toml:2"));
  EXPECT_THAT(log(), HasSubstr("\"operation\":\"refused\""));
  EXPECT_THAT(log(), HasSubstr(policy->digest()));

  request.limits.open_files = 64;
  EXPECT_EQ(run(manager_, request, around).out, "ran");
}

TEST_F(Surrounded, ProgramHasADirectoryOfItsOwnWhichIsGoneAfterwards) {  // C62, C66, C70
  std::string seen;
  manager_.add("tool", memory::Program().step([&](memory::Self& self) {
    seen = self.request().cwd;
    std::ofstream(seen + "/result.txt") << "made";
  }));
  Surroundings around = recorded();
  around.work_dir = WorkDirOptions{.cache = folder_ / "cache", .name = "tool"};
  around.collect = CollectOptions{.globs = {"*.txt"}, .into = folder_ / "out"};
  const Outcome outcome = run(manager_, {.program = "tool"}, around);
  EXPECT_EQ(outcome.verdict, Verdict::exited);
  EXPECT_EQ(outcome.hint, "");
  EXPECT_THAT(seen, HasSubstr("/cache/work/tool-0-"));
  EXPECT_FALSE(fs::exists(seen));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "result.txt"));
  EXPECT_THAT(log(), HasSubstr("\"operation\":\"cleanup\""));
}

TEST_F(Surrounded, WithoutItsRecordNothingRuns) {
  bool ran = false;
  manager_.add("tool", memory::Program().step([&](memory::Self&) { ran = true; }));
  Surroundings around = recorded();
  (void)write("log", "no directory");
  const Outcome outcome = run(manager_, {.program = "tool"}, around);
  EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
  EXPECT_FALSE(ran);
}

TEST_F(Surrounded, WhatCannotBeCollectedIsToldAndChangesNoVerdict) {
  manager_.add("tool", memory::Program().step([&](memory::Self& self) {
    fs::create_symlink("/etc/passwd", self.request().cwd + "/a.txt");
  }));
  Surroundings around;
  around.work_dir = WorkDirOptions{.cache = folder_ / "cache", .name = "tool"};
  around.collect = CollectOptions{.globs = {"*.txt"}, .into = folder_ / "out"};
  const Outcome outcome = run(manager_, {.program = "tool"}, around);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.hint, HasSubstr("not collected: a.txt"));
}

}  // namespace
}  // namespace cordon
