#include "cordon/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace cordon {
namespace {

TEST(VersionTest, HasThreeNumbers) {
  const std::string text{version()};
  EXPECT_TRUE(std::regex_match(text, std::regex{R"(\d+\.\d+\.\d+)"})) << text;
}

}  // namespace
}  // namespace cordon
