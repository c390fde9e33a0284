// Running attacks: in a sandbox, in one with guards left out, and in none.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "cordon/manager.h"
#include "cordon/run.h"
#include "escape/attacks.h"
#include "escape/bait.h"
#include "escape/place.h"

namespace cordon::escape {

inline constexpr const char* kAttack = CORDON_TEST_PROGRAMS_DIR "/attack";

// The program `attack` with the usual grants: granted/ to read, writable/ to write.
[[nodiscard]] Request request_for(const Bait& bait, Words arguments);
[[nodiscard]] Request request_for(const Attack& attack, const Bait& bait);

// Of this kernel; 0: none.
[[nodiscard]] int landlock_abi();

// A manager whose sandboxes lack these steps of their set-up.
[[nodiscard]] Result<std::unique_ptr<Manager>> manager_without(const Words& guards);

[[nodiscard]] Outcome run_unguarded(const Attack& attack, const Bait& bait);

// The attack came to its end and says so, or was killed for the call it made, or at a limit.
[[nodiscard]] testing::AssertionResult was_stopped(const Outcome& outcome);
[[nodiscard]] testing::AssertionResult has_reached(const Outcome& outcome);

// A sandbox, or a skip that names what is missing.
class Sandboxed : public testing::Test {
 protected:
  void SetUp() override;
  [[nodiscard]] Manager& manager() { return *manager_; }
  [[nodiscard]] Outcome attack(Words arguments);
  [[nodiscard]] static bool is_root();

  struct Started {
    std::shared_ptr<Process> process;
    EventStream events;
    std::string line;  // its first, e.g. "ready"
  };
  [[nodiscard]] static Started start(Manager& manager, Request request);
  [[nodiscard]] Started start(Request request) { return start(manager(), std::move(request)); }

  Bait bait_;

 private:
  std::unique_ptr<Manager> manager_;
};

// A sandbox for each attack of the table that can be made here; else a skip.
class EachAttack : public Sandboxed, public testing::WithParamInterface<Attack> {
 protected:
  void SetUp() override;
  // And it has left nothing behind that it should not.
  void expect_stopped(const Outcome& outcome);
};

// A sandbox where control groups work; else a skip.
class Limited : public Sandboxed {
 protected:
  void SetUp() override;
};

}  // namespace cordon::escape
