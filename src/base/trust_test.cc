#include "base/trust.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cordon::base {
namespace {

struct stat owned_by(uid_t user) {
  struct stat info{};
  info.st_uid = user;
  return info;
}

struct stat with_mode(mode_t mode) {
  struct stat info{};
  info.st_mode = mode;
  return info;
}

TEST(Trust, RootAndTheCallerAreTrustedAndNobodyElse) {
  EXPECT_TRUE(owner_is_trusted(owned_by(0)));
  EXPECT_TRUE(owner_is_trusted(owned_by(::geteuid())));
  EXPECT_FALSE(owner_is_trusted(owned_by(::geteuid() + 1)));
  EXPECT_FALSE(owner_is_trusted(owned_by(65534)));
}

TEST(Trust, GroupAndOthersMayNotWrite) {
  for (const mode_t mode : {0700U, 0755U, 0744U, 01755U, 06755U}) {
    EXPECT_FALSE(others_may_write(with_mode(S_IFDIR | mode))) << mode;
  }
  for (const mode_t mode : {0720U, 0702U, 0777U, 0020U, 0002U, 02775U}) {
    EXPECT_TRUE(others_may_write(with_mode(S_IFREG | mode))) << mode;
  }
}

TEST(Trust, AStickyDirectoryIsClosedOnlyWhereThatIsSaid) {
  const struct stat tmp = with_mode(S_IFDIR | 01777);
  EXPECT_TRUE(others_may_write(tmp));
  EXPECT_TRUE(others_may_write(tmp, Sticky::is_open));
  EXPECT_FALSE(others_may_write(tmp, Sticky::is_closed));
  EXPECT_TRUE(others_may_write(with_mode(S_IFDIR | 0777), Sticky::is_closed));
  EXPECT_TRUE(others_may_write(with_mode(S_IFDIR | 0775), Sticky::is_closed));
}

}  // namespace
}  // namespace cordon::base
