// Sandboxes of the test's own, removed afterwards.
#pragma once

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"
#include "support/eventually.h"

namespace cordon::cli {

using support::eventually;

class SandboxTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(::mkdir(path("runtime").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir(path("work").c_str(), 0700), 0);
  }
  void TearDown() override {
    for (const std::string& name : names()) (void)sandbox({"rm", name});
    if (std::filesystem::exists(place())) {
      EXPECT_TRUE(std::filesystem::is_empty(place()));
    }
    CliTest::TearDown();
  }

  // "cordon sandbox ARGUMENTS"
  [[nodiscard]] static Command command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sandbox");
    return Command(std::move(arguments));
  }
  [[nodiscard]] static Ended sandbox(std::vector<std::string> arguments) {
    return command(std::move(arguments)).run();
  }
  // A sandbox called "box" whose main program is this script.
  void create(const std::string& script, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments = {"create", "--cwd", path("work")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"box", "--", "sh", "-c", script});
    const Ended created = sandbox(arguments);
    ASSERT_EQ(created.status, 0) << created.err;
    ASSERT_EQ(created.out, "box\n");
  }
  [[nodiscard]] static Ended exec(const std::string& script) {
    return sandbox({"exec", "box", "--", "sh", "-c", script});
  }
  [[nodiscard]] static boost::json::array list() {
    const Ended listed = sandbox({"ls", "--json"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    return listed.status == 0 ? parse(listed.out).at("sandboxes").as_array() : boost::json::array{};
  }
  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& one : list()) all.emplace_back(one.at("name").as_string());
    return all;
  }
  [[nodiscard]] static std::string state(const std::string& name = "box") {
    for (const auto& one : list()) {
      if (one.at("name").as_string() == name) return std::string(one.at("state").as_string());
    }
    return "absent";
  }
  [[nodiscard]] static pid_t supervisor() {
    const auto all = list();
    return all.empty() ? -1 : static_cast<pid_t>(all.front().at("pid").as_int64());
  }
  [[nodiscard]] static boost::json::array processes() {
    const Ended listed = sandbox({"ps", "--json", "box"});
    EXPECT_EQ(listed.status, 0) << listed.err;
    return listed.status == 0 ? parse(listed.out).at("processes").as_array() : boost::json::array{};
  }
  [[nodiscard]] std::string place() const { return path("runtime/cordon/sandboxes"); }
};

}  // namespace cordon::cli
