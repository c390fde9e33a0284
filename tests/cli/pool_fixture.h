// A pool of the test's own, stopped afterwards.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fixture.h"

namespace cordon::cli {

class PoolTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(::mkdir(path("runtime").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir(path("work").c_str(), 0700), 0);
    ::unsetenv("CORDON_POOL");
  }
  void TearDown() override {
    (void)cordon({"pool", "stop", "--grace", "0s"});
    CliTest::TearDown();
  }

  // Returns its process.
  int start(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"pool", "start"});
    const Ended started = cordon(options);
    EXPECT_EQ(started.status, 0) << started.err;
    return static_cast<int>(number("pid"));
  }
  [[nodiscard]] std::int64_t number(const char* name) const {
    const Ended status = cordon({"pool", "status", "--json"});
    EXPECT_EQ(status.status, 0) << status.err;
    return status.status == 0 ? parse(status.out).at(name).as_int64() : -1;
  }
  // Waits for an event that must come.
  template <typename Condition>
  [[nodiscard]] static bool eventually(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      ::usleep(5000);
    }
    return true;
  }

  [[nodiscard]] std::string socket() const { return path("runtime/cordon/pool/socket"); }
  // "cordon run OPTIONS --pool WHEN --cwd WORK ARGUMENTS"
  [[nodiscard]] Command pooled(const std::string& when, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", "--pool", when, "--cwd", path("work")});
    return Command(std::move(arguments));
  }
};

}  // namespace cordon::cli
