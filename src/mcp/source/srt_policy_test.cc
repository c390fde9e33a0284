#include "mcp/source/srt_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<Grant>> read(const std::string& text) {
  return read_srt_policy(text, "srt.json", "/home/me");
}

TEST(SrtPolicy, BecomesGrants) {
  const auto grants = read(R"({
    "filesystem": {"denyRead": ["~/.ssh", "~"], "allowRead": ["~/notes", "/srv/w/in"],
                   "allowWrite": ["/srv/w"], "denyWrite": ["/etc"]},
    "network": {"allowedDomains": [], "deniedDomains": ["example.com"]}})");
  ASSERT_TRUE(grants) << grants.error().message;
  EXPECT_THAT(*grants, ElementsAre(Grant::write("/srv/w"), Grant::read("/home/me/notes")));
  EXPECT_TRUE(read("{}")->empty());
}

TEST(SrtPolicy, IsReadWhereVsCodeHasIt) {
  const auto grants =
      read(R"({"servers": {}, "inputs": [], "sandbox": {"filesystem": {"allowRead": ["/srv"]}}})");
  ASSERT_TRUE(grants) << grants.error().message;
  EXPECT_THAT(*grants, ElementsAre(Grant::read("/srv")));
}

TEST(SrtPolicy, RefusesWhatItCannotKeep) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"network": {"allowedDomains": ["github.com"]}})", "cannot be told apart"},
      {R"({"network": {"allowUnixSockets": ["/x"]}})", "network.allowUnixSockets"},
      {R"({"filesystem": {"denyExec": []}})", "filesystem.denyExec"},
      {R"({"other": 1})", "other is not known"},
      {R"({"sandbox": {"other": 1}})", "sandbox.other"},
      {R"({"filesystem": {"allowRead": ["~"], "denyRead": ["~/.ssh"]}})", "filesystem.denyRead"},
      {R"({"filesystem": {"allowWrite": ["/w/x"], "denyRead": ["/w"]}})", "filesystem.denyRead"},
      {R"({"filesystem": {"allowWrite": ["/w"], "denyWrite": ["/w/.git"]}})", "denyWrite"},
      {R"({"filesystem": {"allowWrite": ["/w/x"], "denyWrite": ["/w"]}})", "denyWrite"},
      {R"({"filesystem": {"denyRead": ["/usr/bin/gcc"]}})", "denyRead"},
      {R"({"filesystem": {"allowWrite": ["/w/*.txt"]}})", "pattern"},
      {R"({"filesystem": {"allowWrite": ["."]}})", "no path in full"},
      {R"({"filesystem": {"allowWrite": ["/a/../b"]}})", "no path in full"},
      {R"({"filesystem": {"allowWrite": "/w"}})", "no array"},
      {R"({"filesystem": []})", "no object"},
      {"{", "not JSON"},
  };
  for (const auto& [text, why] : cases) {
    const auto grants = read(text);
    ASSERT_FALSE(grants) << text;
    EXPECT_THAT(grants.error().message, AllOf(HasSubstr("srt.json"), HasSubstr(why)));
  }
}

}  // namespace
}  // namespace cordon::mcp
