#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cordon::base {
namespace {

constexpr std::array<std::string_view, 3> kKnown = {"memory", "timeout", "pids"};

TEST(Suggest, NamesTheWordThatIsATypingErrorAway) {
  EXPECT_EQ(nearest("memroy", kKnown), "memory");
  EXPECT_EQ(nearest("timeuot", kKnown), "timeout");
  EXPECT_EQ(nearest("pid", kKnown), "pids");
}

TEST(Suggest, IsSilentAboutWordsThatAreFarFromAll) {
  EXPECT_EQ(nearest("network", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100'000, 'm'), kKnown), "");
}

}  // namespace
}  // namespace cordon::base
