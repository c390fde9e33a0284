#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "cordon/outcome.h"

namespace cordon {
namespace {

using Level = Guarantee::Level;

TEST(VerdictTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int v = 0; v <= static_cast<int>(Verdict::failed_to_start); ++v) {
    const std::string_view name = to_string(static_cast<Verdict>(v));
    EXPECT_NE(name, "unknown") << v;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(to_string(Verdict::cpu_time), "cpu_time");
  EXPECT_EQ(to_string(Verdict::failed_to_start), "failed_to_start");
  EXPECT_EQ(to_string(static_cast<Verdict>(200)), "unknown");
}

TEST(TerminationTest, EachTypeHasTheDocumentedName) {  // C57
  EXPECT_EQ(to_string(Termination::Type::exit), "exit");
  EXPECT_EQ(to_string(Termination::Type::signal), "signal");
  EXPECT_EQ(to_string(Termination::Type::timeout), "timeout");
  EXPECT_EQ(to_string(static_cast<Termination::Type>(200)), "unknown");
}

TEST(DescribeTest, SaysHowWellAGuaranteeIsKept) {
  EXPECT_EQ(describe({Level::enforced, "RLIMIT_NOFILE", ""}), "enforced by RLIMIT_NOFILE");
  EXPECT_EQ(describe({Level::partial, "RLIMIT_DATA", "each process may use as much"}),
            "partly enforced by RLIMIT_DATA: each process may use as much");
  EXPECT_EQ(describe({Level::none, "", "no limit was asked for"}),
            "not enforced: no limit was asked for");
  EXPECT_EQ(describe({}), "not enforced");
}

}  // namespace
}  // namespace cordon
