// What the tests of work directories have in common.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/fd.h"
#include "workdir/remove_tree.h"

namespace cordon::workdir {

// Time that goes on only when it is looked at.
class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(Duration step = {}) : step_(step) {}
  [[nodiscard]] TimePoint now() const override { return now_ += step_; }
  [[nodiscard]] WallTime wall_now() const override {
    return WallTime(std::chrono::seconds(1'700'000'000));
  }
  void sleep_until(TimePoint until) override { now_ = std::max(now_, until); }

 private:
  Duration step_;
  mutable TimePoint now_{};
};

inline Deadline in(Duration patience) { return {real_clock(), real_clock().now() + patience}; }
inline Deadline soon_enough() { return in(std::chrono::seconds(50)); }

inline base::Fd open_directory(const std::string& path) {
  return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

inline void write_file(const std::string& path, const std::string& content = "content") {
  std::ofstream(path) << content;
}

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline mode_t mode_of(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

inline std::size_t entries_in(const std::string& path) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path)) ++count;
  return count;
}

// Ids belong to threads: runs `action` in one that is an ordinary user.
template <typename Action>
void as_ordinary_user(uid_t uid, Action action) {
  std::thread([&] {
    ASSERT_EQ(::syscall(SYS_setresgid, uid, uid, uid), 0);
    ASSERT_EQ(::syscall(SYS_setresuid, uid, uid, uid), 0);
    action();
  }).join();
}

// A directory of the test's own, removed afterwards.
class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "cordon-workdir-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    const base::Fd top = open_directory(directory_);
    EXPECT_TRUE(empty_directory(top.get(), directory_, soon_enough()));
    EXPECT_EQ(::rmdir(directory_.c_str()), 0);
  }

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return name.empty() ? directory_ : directory_ + "/" + name;
  }
  std::string make(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return path(name);
  }

 private:
  std::string directory_;
};

// Something outside that a trick could get at.
class Bait {
 public:
  explicit Bait(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_ + "/inner");
    for (const char* const name : {"/f", "/g", "/inner/f", "/inner/h"})
      write_file(path_ + name, kText);
    ::chmod(path_.c_str(), 0500);
    ::chmod((path_ + "/inner").c_str(), 0500);
  }
  ~Bait() {
    ::chmod(path_.c_str(), 0700);
    ::chmod((path_ + "/inner").c_str(), 0700);
  }
  Bait(const Bait&) = delete;
  Bait& operator=(const Bait&) = delete;

  static constexpr const char* kText = "bait";

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool intact() const {
    for (const char* const name : {"/f", "/g", "/inner/f", "/inner/h"}) {
      if (content_of(path_ + name) != kText) return false;
    }
    return mode_of(path_) == 0500 && mode_of(path_ + "/inner") == 0500 && entries_in(path_) == 3;
  }

 private:
  std::string path_;
};

}  // namespace cordon::workdir
