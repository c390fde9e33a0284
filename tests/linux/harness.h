// What the tests of the linux backend share: runs by an ordinary user, traces that a run may leave.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "backend/linux/linux_backend.h"
#include "cordon/manager.h"
#include "support/count_from.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::linux_tests {

inline constexpr uid_t kOrdinaryUser = 12345;

// A manager of sandboxes. Empty, with a failed or skipped test, where there can be none.
[[nodiscard]] std::unique_ptr<Manager> make_manager(linux_backend::Weakened weakened = {});
[[nodiscard]] bool can_sandbox();

// The program misbehave, with a grant to read it.
[[nodiscard]] Request misbehave(std::vector<std::string> args);

// Runs `test` in a process of its own, as that user where the caller may choose one. Failures
// inside are failures of the calling test.
void in_own_process(uid_t user, const std::function<void()>& test);
void in_own_process(const std::function<void()>& test);

// Creates, starts and waits. A start that fails is an outcome too.
[[nodiscard]] Outcome run_to_end(Manager& manager, Request request);

// A folder that any user may write to; removed with all its contents.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name = {}) const;

 private:
  std::filesystem::path path_;
};

// What this process holds, and what is left of its runs.
struct Traces {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t children = 0;  // zombies too
  std::size_t mounts = 0;
  std::size_t groups = 0;

  friend bool operator==(const Traces&, const Traces&) = default;
};
std::ostream& operator<<(std::ostream& out, const Traces& traces);
[[nodiscard]] Traces traces();
// Has `manager` make as many ids as it can need for runs one after the other, which it keeps: a run
// may begin while the last ones are still being ended. They are made for the grants of `like`.
void make_ids(Manager& manager, const Request& like);
// Once nothing changes any more: the keeper tidies up, and makes things ahead.
[[nodiscard]] Traces traces_at_rest();
// Until they are as `wanted`, for some seconds: the kernel and the keeper take their time.
[[nodiscard]] Traces traces_settled(const Traces& wanted);

// For a process that orphans come to (PR_SET_CHILD_SUBREAPER): true once none of its children is
// left, false if some still are after `patience`.
[[nodiscard]] bool reap_all(Duration patience);
// Control groups made by a supervisor with this pid.
[[nodiscard]] std::size_t groups_of(pid_t supervisor);
// Processes with this text among their arguments.
[[nodiscard]] std::vector<pid_t> processes_marked(const std::string& mark);
[[nodiscard]] std::size_t resident_bytes();
// Those of our children that wait to become a program: second in a pid namespace of their own.
[[nodiscard]] std::vector<pid_t> parked();

// The address sanitizer does not give back what was freed, to see who still uses it.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORDON_TEST_KEEPS_FREED_MEMORY
#endif
#endif
#ifdef CORDON_TEST_KEEPS_FREED_MEMORY
inline constexpr bool kKeepsFreedMemory = true;
#else
inline constexpr bool kKeepsFreedMemory = false;
#endif

using support::count_from;

}  // namespace cordon::linux_tests

// Skips where no sandbox can be made, or none by an ordinary user if that is who makes it.
#define CORDON_NEEDS_SANDBOX(ordinary)                                                 \
  do {                                                                                 \
    if (ordinary) {                                                                    \
      if (::geteuid() != 0) GTEST_SKIP() << "user: only root can become another user"; \
      CORDON_SKIP_IN_PRIVATE_TREE();                                                   \
    }                                                                                  \
    if (!::cordon::linux_tests::can_sandbox()) {                                       \
      CORDON_SKIP_WITHOUT("linux", "no sandbox can be made here");                     \
    }                                                                                  \
  } while (false)
