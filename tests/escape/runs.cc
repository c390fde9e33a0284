#include "escape/runs.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "backend/linux/linux_backend.h"
#include "backend/linux/probe_security.h"
#include "supervise/supervising_manager.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::escape {
namespace {

using namespace std::chrono_literals;

constexpr int kStopped = 10;  // as tests/programs/attack says it
constexpr auto kDeadline = 20s;

testing::AssertionResult explained(testing::AssertionResult result, const Outcome& outcome) {
  result << to_string(outcome.verdict) << ", " << outcome.out << outcome.err;
  if (outcome.error) result << outcome.error->message;
  return result;
}

}  // namespace

Request request_for(const Bait& bait, Words arguments) {
  Request request{.program = kAttack, .args = std::move(arguments)};
  request.cwd = CORDON_TEST_PROGRAMS_DIR;
  request.timeout = kDeadline;
  request.grace = 100ms;
  request.grants = {Grant::read(bait.granted()), Grant::write(bait.writable())};
  return request;
}

Request request_for(const Attack& attack, const Bait& bait) {
  Request request = request_for(bait, attack.command(bait));
  if (attack.given) attack.given(request, bait);
  return request;
}

int landlock_abi() {
  plan::HostCapabilities host;
  linux_backend::probe_landlock(host);
  return host.landlock_abi;
}

Result<std::unique_ptr<Manager>> manager_without(const Words& guards) {
  auto backend = linux_backend::LinuxBackend::make({.left_out = guards, .verify = guards.empty()});
  if (!backend) return std::unexpected(std::move(backend.error()));
  return std::make_unique<supervise::SupervisingManager>(std::move(*backend));
}

Outcome run_unguarded(const Attack& attack, const Bait& bait) {
  const Unguarded& how = attack.unguarded;
  Request request = request_for(attack, bait);
  if (how.asked) how.asked(request, bait);
  const bool outside = how.no_sandbox || how.command;
  if (outside) {
    request.grants.clear();
    if (how.command) {
      Words words = how.command(bait);
      request.program = words.front();
      request.args.assign(words.begin() + 1, words.end());
    }
  }
  auto manager = outside ? posix_manager() : manager_without(how.without);
  if (!manager) {
    Outcome outcome;
    outcome.error = std::move(manager.error());
    return outcome;
  }
  return run(**manager, std::move(request));
}

testing::AssertionResult was_stopped(const Outcome& outcome) {
  const bool killed = outcome.verdict == Verdict::denied && !outcome.error;
  const bool at_limit = outcome.limit && outcome.verdict != Verdict::timeout;
  return explained(testing::AssertionResult(killed || at_limit || outcome.exit_code == kStopped),
                   outcome);
}

testing::AssertionResult has_reached(const Outcome& outcome) {
  return explained(testing::AssertionResult(outcome.exit_code == 0 &&
                                            outcome.out.find("reached") != std::string::npos),
                   outcome);
}

void Sandboxed::SetUp() {
  auto made = kPlace.make_manager();
  if (!made) CORDON_SKIP_WITHOUT("linux", made.error().message);
  manager_ = std::move(*made);
}

Outcome Sandboxed::attack(Words arguments) {
  return run(manager(), request_for(bait_, std::move(arguments)));
}

bool Sandboxed::is_root() { return ::geteuid() == 0; }

Sandboxed::Started Sandboxed::start(Manager& manager, Request request) {
  request.out = Output::events({.mode = OutputMode::line});
  auto process = manager.create(std::move(request)).value();
  EventStream events = process->events();
  const auto started = process->start();
  EXPECT_TRUE(started) << started.error().message;
  std::string line;
  if (auto event = events.next_for(kDeadline); event && *event) line = (*event)->data.str();
  return {std::move(process), std::move(events), std::move(line)};
}

void EachAttack::SetUp() {
  Sandboxed::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  const Attack& attack = GetParam();
  if (attack.needs_root && !is_root()) CORDON_SKIP_WITHOUT("root", "the caller has to be root");
  if (landlock_abi() < attack.landlock_abi) {
    CORDON_SKIP_WITHOUT("landlock", "needs ABI " + std::to_string(attack.landlock_abi));
  }
  if (support::tree_is_below(attack.looks_for)) {
    GTEST_SKIP() << "tree: it is below " << attack.looks_for
                 << ", which is visible for that reason";
  }
}

void EachAttack::expect_stopped(const Outcome& outcome) {
  EXPECT_TRUE(was_stopped(outcome));
  EXPECT_EQ(bait_.foreign_or_set_ids(), Words{});
  EXPECT_EQ(bait_.typed(), 0);
}

void Limited::SetUp() {
  Sandboxed::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  const Enforcement kept = manager().capabilities().enforcement;
  if (kept.memory.level != Guarantee::Level::enforced ||
      kept.processes.level != Guarantee::Level::enforced) {
    CORDON_SKIP_WITHOUT("cgroup", describe(kept.memory) + "; " + describe(kept.processes));
  }
}

}  // namespace cordon::escape
