// Several files, includes and profiles: each only narrows.
#include <gmock/gmock.h>

#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::HasSubstr;

std::string failure(const Files& files, const std::vector<std::string>& roots,
                    const std::string& profile = "") {
  const auto policy = assemble(roots, profile, reader_of(files), {});
  return policy ? "no error" : policy.error().message;
}

TEST(PolicyFiles, IncludesAreRelativeToTheirFile) {
  const Files files = {
      {"/etc/cordon/policy.toml", "include = [\"more/a.toml\", \"/opt/b.toml\"]\n"},
      {"/etc/cordon/more/a.toml", "include = [\"c.toml\"]\n"},
      {"/etc/cordon/more/c.toml", "network = \"none\"\n"},
      {"/opt/b.toml", ""}};
  const std::vector<std::string> roots = {"/etc/cordon/policy.toml"};
  const auto policy = assemble(roots, "", reader_of(files), {});
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->files.size(), 4U);
  EXPECT_TRUE(policy->ceilings.front().is_root);
  EXPECT_FALSE(policy->ceilings.back().is_root);
  EXPECT_EQ(policy->digest.size(), 64U);
}

TEST(PolicyFiles, CyclesAreErrorsThatNameTheChain) {
  const Files files = {{"/a", "include = [\"b\"]\n"},
                       {"/b", "include = [\"c\"]\n"},
                       {"/c", "include = [\"b\"]\n"},
                       {"/self", "include = [\"self\"]\n"}};
  EXPECT_EQ(failure(files, {"/a"}),
            "policy files include each other in a circle: /a → /b → /c → /b: remove one include");
  EXPECT_THAT(failure(files, {"/self"}), HasSubstr("/self → /self"));
}

TEST(PolicyFiles, DepthAndNumberOfIncludesAreBounded) {
  Files files;
  for (int i = 0; i < 20; ++i) {
    files["/" + std::to_string(i)] = "include = [\"" + std::to_string(i + 1) + "\"]\n";
  }
  EXPECT_THAT(failure(files, {"/0"}), HasSubstr("too deeply (the most is 8): /0 → /1"));
  files["/12"] = "";
  EXPECT_EQ(failure(files, {"/4"}), "no error") << "8 deep";

  // Each includes the next twice: 2^8 files without a bound.
  for (int i = 0; i < 8; ++i) {
    const std::string next = "\"" + std::to_string(i + 1) + "\"";
    files["/" + std::to_string(i)] = "include = [" + next + "," + next + "]\n";
  }
  files["/8"] = "";
  EXPECT_THAT(failure(files, {"/0"}), HasSubstr("more than 64 policy files"));
}

TEST(PolicyFiles, AMissingIncludeIsNamedWithItsLine) {
  EXPECT_THAT(failure({{"/a", "\ninclude = [\"b\"]\n"}}, {"/a"}), HasSubstr("/a:2: /b is missing"));
}

TEST(PolicyFiles, AProfileNarrowsAndHasToExist) {
  const Files files = {{"/a",
                        "[limits]\nmemory = \"1G\"\n[profiles.build]\nnetwork = \"none\"\n"
                        "[profiles.build.limits]\nmemory = \"4G\"\n"}};
  const std::vector<std::string> roots = {"/a"};
  const auto policy = assemble(roots, "build", reader_of(files), {});
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->ceilings.size(), 2U);
  Asks asks;
  asks.request.limits.memory_bytes = std::uint64_t{2} << 30U;
  EXPECT_THAT(refusal(evaluate_all(*policy, asks)), HasSubstr("/a:2 allows (1G)"));
  EXPECT_EQ(failure(files, {"/a"}, "biuld"),
            "no policy file has the profile \"biuld\": did you mean \"build\"?");
  EXPECT_THAT(failure(files, {"/a"}, "x"), HasSubstr("there are build, mcp"));
  EXPECT_THAT(failure({}, {}, "x"), HasSubstr("there are mcp"));
}

TEST(PolicyFiles, ContradictionsNameBothPlaces) {
  EXPECT_EQ(
      failure({{"/a", "[env.set]\nA = \"1\"\n"}, {"/b", "[env.set]\n\nA = \"2\"\n"}}, {"/a", "/b"}),
      "/b:3: sets A to another value than /a:2: make them agree, or remove the later one");
  EXPECT_THAT(
      failure({{"/a", "[audit]\ndirectory = \"/x\"\n"}, {"/b", "[audit]\ndirectory = \"/y\"\n"}},
              {"/a", "/b"}),
      HasSubstr("another audit directory than that of /a:2"));
  EXPECT_THAT(
      failure({{"/a", "[audit]\nkey_file = \"/x\"\n"}, {"/b", "[audit]\nkey_file = \"/y\"\n"}},
              {"/a", "/b"}),
      HasSubstr("another audit key"));
  EXPECT_THAT(
      failure({{"/a", "[secrets]\n"}, {"/b", "[secrets.X]\nsource = \"fd:3\"\n"}}, {"/a", "/b"}),
      HasSubstr("is not among those of /a:1"));
  EXPECT_THAT(failure({{"/a", "[secrets.X]\nsource = \"fd:3\"\n"},
                       {"/b", "[secrets.X]\nsource = \"fd:4\"\n"}},
                      {"/a", "/b"}),
              HasSubstr("another source or delivery"));
}

TEST(PolicyFiles, TheStrictestAuditSettingsHold) {
  const auto audit = audit_of(policy_of(
      {{"a", "[audit]\ndirectory = \"/log\"\nmax_file_size = \"1M\"\n"},
       {"b", "[audit]\non_failure = \"continue\"\nmax_file_size = \"2M\"\nrequired = false\n"},
       {"c", "[audit]\nrequired = true\ndurable = true\n"},
       {"d", "[audit]\nrequired = false\ndurable = false\n"}}));
  ASSERT_TRUE(audit);
  EXPECT_EQ(audit->on_failure->value, "refuse") << "the first file said nothing, which is refuse";
  EXPECT_EQ(audit->max_file_size->value, 1024U * 1024U);
  EXPECT_TRUE(audit->required->value);
  EXPECT_TRUE(audit->durable->value);
  EXPECT_EQ(audit->directory->value, "/log");
  EXPECT_EQ(audit_of(policy_of({{"a", "[audit]\non_failure = \"continue\"\n"}}))->on_failure->value,
            "continue");
  EXPECT_FALSE(audit_of(policy_of({{"a", ""}})));
}

TEST(PolicyFiles, TheDigestCoversEveryByteAndName) {
  const auto digest = [](const Files& files) { return policy_of(files).digest; };
  EXPECT_EQ(digest({{"a", "# x\n"}}), digest({{"a", "# x\n"}}));
  EXPECT_NE(digest({{"a", "# x\n"}}), digest({{"a", "# y\n"}}));
  EXPECT_NE(digest({{"a", "# x\n"}}), digest({{"b", "# x\n"}}));
  EXPECT_NE(digest({{"a", "# x\n"}, {"b", ""}}), digest({{"a", ""}, {"b", "# x\n"}}));
  EXPECT_EQ(digest({}), "");
}

}  // namespace
}  // namespace cordon::policy
