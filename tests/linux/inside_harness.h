// Long-lived sandboxes for tests: as root, and as an ordinary user who was given control groups.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/linux/linux_engine.h"
#include "cordon/run.h"
#include "linux/harness.h"
#include "supervise/container.h"

namespace cordon::linux_tests {

// A group of this name in every hierarchy that is needed, which belongs to `user`; removed with all
// that is below. Its name is empty where that cannot be.
class GivenGroups {
 public:
  explicit GivenGroups(uid_t user);
  ~GivenGroups();
  GivenGroups(const GivenGroups&) = delete;
  GivenGroups& operator=(const GivenGroups&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }
  // Groups below, in all hierarchies.
  [[nodiscard]] std::size_t inside() const;

 private:
  std::string name_;
  std::vector<std::filesystem::path> made_;
};

// A program inside: /bin/sh with this script.
[[nodiscard]] Request shell(std::string script);
// A sandbox whose main program sleeps; `request` has what it is given besides.
[[nodiscard]] Request sleeper(Request request = {});

// Each test is run in a process of its own, by that user.
class InsideTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override;
  // With an engine, where `parent` is to be the parent of its groups.
  void each(const std::function<void(supervise::Engine&, const std::string& parent)>& test);
  // With a sandbox that `request` is the main program of.
  void inside(Request request, const std::function<void(supervise::Container&)>& test);
  [[nodiscard]] bool ordinary() const { return GetParam(); }

 private:
  std::unique_ptr<GivenGroups> groups_;
};

}  // namespace cordon::linux_tests
