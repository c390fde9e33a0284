// Every attack of the table, stopped; and the same without what stops it, seen to succeed.
#include "escape/attacks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "escape/runs.h"
#include "support/must_work.h"
#include "support/tree.h"

namespace cordon::escape {

std::vector<Attack> all_attacks() {
  std::vector<Attack> all;
  for (auto some :
       {file_attacks(), device_attacks(), mode_attacks(), process_attacks(), privilege_attacks(),
        namespace_attacks(), kernel_attacks(), network_attacks(), resource_attacks()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

namespace {

class Stopped : public EachAttack {};

TEST_P(Stopped, InASandbox) { expect_stopped(run(manager(), request_for(GetParam(), bait_))); }

class Succeeds : public Sandboxed, public testing::WithParamInterface<Attack> {};

TEST_P(Succeeds, WithoutItsGuard) {
  const Attack& attack = GetParam();
  const Unguarded& how = attack.unguarded;
  if (!how.never.empty()) GTEST_SKIP() << "never seen to succeed: " << how.never;
  if ((attack.needs_root || how.needs_root) && !is_root()) {
    CORDON_SKIP_WITHOUT("root", "only root comes this far");
  }
  if (how.needs_public_tree) CORDON_SKIP_IN_PRIVATE_TREE();
  const Outcome outcome = run_unguarded(attack, bait_);
  if (!how.may_be_missing.empty() && was_stopped(outcome)) {
    GTEST_SKIP() << how.may_be_missing << ": " << outcome.out;
  }
  EXPECT_TRUE(has_reached(outcome));
}

const auto kName = [](const auto& attack) { return attack.param.name; };
INSTANTIATE_TEST_SUITE_P(, Stopped, testing::ValuesIn(all_attacks()), kName);
INSTANTIATE_TEST_SUITE_P(, Succeeds, testing::ValuesIn(all_attacks()), kName);

TEST(AttacksTest, ThereAreMany) {
  std::set<std::string> names;
  std::size_t never = 0;
  for (const Attack& attack : all_attacks()) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name;
    const Unguarded& how = attack.unguarded;
    const bool some_way = how.no_sandbox || how.asked || how.command || !how.without.empty();
    EXPECT_NE(some_way, !how.never.empty()) << attack.name;
    never += how.never.empty() ? 0 : 1;
  }
  EXPECT_GE(names.size() - never, 60U);
}

// What is not run in a sandbox for the sake of where the tree lies.
TEST(AttacksTest, AtMostOneIsLeftOutForThePlaceOfTheTree) {
  const auto all = all_attacks();
  EXPECT_LE(std::ranges::count_if(
                all, [](const Attack& a) { return support::tree_is_below(a.looks_for); }),
            1);
}

}  // namespace
}  // namespace cordon::escape
