// A Life on scripted programs, whose engine a test can hold up and break.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cordon/memory.h"
#include "sandbox/life.h"
#include "sandbox/manager_engine.h"

namespace cordon::sandbox {

// What a test does to the engine.
class Hand {
 public:
  // From now on, who comes to `place` ("create", "checkpoint", "exec") waits there until let_go().
  void hold(const std::string& place) {
    const std::scoped_lock lock(mutex_);
    held_ = place;
  }
  void let_go() {
    const std::scoped_lock lock(mutex_);
    held_.clear();
    changed_.notify_all();
  }
  // Waits until somebody is held; false: nobody came.
  [[nodiscard]] bool wait_held() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return waiting_ > 0; });
  }
  void pass(const std::string& place) {
    std::unique_lock lock(mutex_);
    if (held_ != place) return;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return held_ != place; });
    --waiting_;
  }

  void break_engine(std::string why) {
    const std::scoped_lock lock(mutex_);
    broken_ = std::move(why);
  }
  [[nodiscard]] std::string broken() const {
    const std::scoped_lock lock(mutex_);
    return broken_;
  }

  std::function<void()> during_checkpoint;
  std::string no_checkpoint;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  int waiting_ = 0;
  std::string broken_;
};

class TestContainer final : public supervise::Container {
 public:
  TestContainer(std::unique_ptr<supervise::Container> real, std::shared_ptr<Hand> hand)
      : real_(std::move(real)), hand_(std::move(hand)) {}
  [[nodiscard]] std::shared_ptr<Process> main() override { return real_->main(); }
  [[nodiscard]] Manager& inside() override { return real_->inside(); }
  [[nodiscard]] Result<void> checkpoint(const supervise::CheckpointAsk& ask) override {
    hand_->pass("checkpoint");
    if (hand_->during_checkpoint) hand_->during_checkpoint();
    return real_->checkpoint(ask);
  }
  [[nodiscard]] std::string broken() const override { return hand_->broken(); }

 private:
  std::unique_ptr<supervise::Container> real_;
  std::shared_ptr<Hand> hand_;
};

class TestEngine final : public supervise::Engine {
 public:
  TestEngine(Manager& manager, std::shared_ptr<Hand> hand)
      : real_(make_manager_engine(manager)), hand_(std::move(hand)) {}
  [[nodiscard]] std::string_view name() const override { return "test"; }
  [[nodiscard]] std::string no_checkpoint() const override { return hand_->no_checkpoint; }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> create(
      supervise::ContainerSpec spec) override {
    hand_->pass("create");
    return wrapped(real_->create(std::move(spec)));
  }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> restore(
      supervise::ContainerSpec spec, const std::filesystem::path& image) override {
    return wrapped(real_->restore(std::move(spec), image));
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> wrapped(
      Result<std::unique_ptr<supervise::Container>> made) const {
    if (!made) return made;
    return std::make_unique<TestContainer>(*std::move(made), hand_);
  }

  std::unique_ptr<supervise::Engine> real_;
  std::shared_ptr<Hand> hand_;
};

// A directory of the test's own.
class TestFolder {
 public:
  TestFolder() {
    char name[] = "/tmp/cordon-life-XXXXXX";
    if (const char* const made = ::mkdtemp(name)) path_ = made;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

class LifeTest : public testing::Test {
 protected:
  LifeTest() {
    manager_.add("main", memory::Program().hang());
    manager_.add("other", memory::Program().hang());
    manager_.add("reader", memory::Program().drain_stdin().hang());
  }

  [[nodiscard]] std::unique_ptr<Life> make(const std::string& program = "main") {
    Request request{.program = program};
    request.in = Input::pipe();
    return std::make_unique<Life>(std::make_unique<TestEngine>(manager_, hand_), std::move(request),
                                  "work", folder_ / "state");
  }
  [[nodiscard]] bool nothing_is_left() const {
    return manager_.live_programs() == 0 && !std::filesystem::exists(folder_ / "state");
  }

  TestFolder folder_;
  memory::Manager manager_;
  std::shared_ptr<Hand> hand_ = std::make_shared<Hand>();
};

}  // namespace cordon::sandbox
