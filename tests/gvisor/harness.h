// Containers for the tests of this folder, and what is to be seen of them on the host.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cordon/manager.h"
#include "supervise/container.h"
#include "support/must_work.h"

namespace cordon::gvisor_tests {

class GvisorTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] supervise::Engine& engine() { return *engine_; }
  // As another process would have one: with nothing of the first.
  void renew_engine();

  // `sh -c SCRIPT`, whose stdout comes line by line.
  [[nodiscard]] static Request script(std::string text);
  // Counts on stdout and in the file /tmp/n, for ever.
  [[nodiscard]] static Request counter();
  [[nodiscard]] supervise::ContainerSpec spec(Request request, std::string sandbox_id = "box");
  [[nodiscard]] std::unique_ptr<supervise::Container> create(Request request);
  [[nodiscard]] std::filesystem::path image(const std::string& name) const { return root_ / name; }
  // Runs `sh -c SCRIPT` inside, to its end.
  struct Ran {
    Outcome outcome;
    std::string out;
  };
  [[nodiscard]] static Ran exec(supervise::Container& container, const std::string& text);
  // The next line of the program, or "" when there is none any more.
  [[nodiscard]] static std::string next_line(EventStream& events);

  // Processes on the host that name something of these tests.
  [[nodiscard]] std::vector<std::string> processes() const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
  std::unique_ptr<supervise::Engine> engine_;
  int states_ = 0;
};

// Processes whose command line has `text` in it.
[[nodiscard]] std::vector<std::string> processes_with(const std::string& text);

}  // namespace cordon::gvisor_tests
