#include "backend/gvisor/exec_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::gvisor_backend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kTable =
    "UID       PID       PPID      C         TTY       STIME     TIME      CMD\n"
    "1000      1         0         1         ?         17:58     30ms      sh\n"
    "1000      3         0         0         ?         17:58     10ms      a b 7 8\n"
    "1000      5         3         0         ?         17:58     0s        sleep\n"
    "1000      6         5         0         ?         17:58     0s        sleep\n";

TEST(ProcessesInside, AreReadFromTheTable) {
  const auto all = parse_processes(kTable);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].pid, 3);
  EXPECT_EQ(all[1].parent, 0);
  EXPECT_EQ(all[3].parent, 5);
  EXPECT_THAT(parse_processes(""), IsEmpty());
  EXPECT_THAT(parse_processes("what is this\n\n"), IsEmpty());
}

TEST(ProcessesInside, ATreeIsThatOfItsRoot) {
  const auto all = parse_processes(kTable);
  EXPECT_THAT(descendants(all, {3}), ElementsAre(3, 5, 6));
  EXPECT_THAT(descendants(all, {6}), ElementsAre(6));
  EXPECT_THAT(descendants(all, {9}), IsEmpty());
  // Whatever the order, and a circle that no kernel makes.
  EXPECT_THAT(descendants({{6, 5}, {5, 3}, {3, 6}}, {3}), ElementsAre(3, 5, 6));
}

}  // namespace
}  // namespace cordon::gvisor_backend
