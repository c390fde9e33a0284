#include "execution/accounts.h"

#include <gtest/gtest.h>

namespace cordon::execution {
namespace {

constexpr std::string_view kUsers =
    "root:x:0:0:root:/root:/bin/bash\n"
    "# me:x:7:7::/comment:\n"
    "broken:x:12\n"
    "me:x:1000:1001:Me, Myself:/home/me:/bin/sh\n"
    "me:x:2000:2000::/second:/bin/sh\n"
    "+nis:x:::::\n"
    "big:x:4294967296:1::/big:/bin/sh\n"
    "last:x:3:4::/last:";

TEST(Accounts, AreFoundByNameAndById) {
  const auto me = account_in(kUsers, "me");
  ASSERT_TRUE(me);
  EXPECT_EQ(me->uid, 1000U);
  EXPECT_EQ(me->gid, 1001U);
  EXPECT_EQ(me->home, "/home/me");
  EXPECT_EQ(account_in(kUsers, 2000U)->home, "/second");
  EXPECT_EQ(account_in(kUsers, "last")->uid, 3U);
}

TEST(Accounts, LinesThatAreNotWholeNameNobody) {
  for (const std::string_view name : {"broken", "# me", "+nis", "big", "", "m", "Me, Myself"}) {
    EXPECT_FALSE(account_in(kUsers, name)) << name;
  }
  EXPECT_FALSE(account_in(kUsers, 12U));
  EXPECT_FALSE(account_in("", 0U));
}

TEST(Accounts, GroupsAreFoundByNameAndById) {
  constexpr std::string_view kGroups = "root:x:0:\nstaff:x:50:me,you\nbroken:x:1\n";
  EXPECT_EQ(group_in(kGroups, "staff")->gid, 50U);
  EXPECT_EQ(group_in(kGroups, 0U)->name, "root");
  EXPECT_FALSE(group_in(kGroups, "broken"));
  EXPECT_FALSE(group_in(kGroups, "me"));
}

TEST(Accounts, TheHostKnowsRootAndNotEverybody) {
  EXPECT_EQ(find_account("root")->uid, 0U);
  EXPECT_EQ(find_account(0U)->name, "root");
  EXPECT_EQ(find_group(0U)->gid, 0U);
  EXPECT_FALSE(find_account("no-such-user"));
  EXPECT_FALSE(find_account("--help"));
  EXPECT_FALSE(find_account(""));
  EXPECT_FALSE(find_group("no-such-group"));
  EXPECT_FALSE(find_group(4000000123U));
}

TEST(Accounts, WhatIsInNoFileIsAskedOfTheHost) {
  const AccountSources no_files{.users = "/dev/null", .groups = "/dev/null"};
  EXPECT_EQ(find_account("root", no_files)->home, find_account("root")->home);
  EXPECT_EQ(find_account(0U, no_files)->name, "root");
  EXPECT_EQ(find_group("root", no_files)->gid, 0U);
  EXPECT_EQ(find_group(0U, no_files)->name, "root");
}

TEST(Accounts, AHostThatCannotBeAskedKnowsNobodyElse) {
  const AccountSources nobody_to_ask{.getent = "/nonexistent/getent"};
  EXPECT_TRUE(find_account("root", nobody_to_ask));
  EXPECT_FALSE(find_account("no-such-user", nobody_to_ask));
}

// echo answers with what it was asked: "passwd -- root".
TEST(Accounts, AnAnswerThatIsNoneCountsForNothing) {
  const AccountSources nonsense{
      .users = "/dev/null", .groups = "/dev/null", .getent = "/usr/bin/echo"};
  EXPECT_FALSE(find_account("root", nonsense));
  EXPECT_FALSE(find_group(0U, nonsense));
}

}  // namespace
}  // namespace cordon::execution
