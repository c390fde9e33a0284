#include "backend/linux/seccomp_observed.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace cordon::linux_backend {
namespace {

Named named(long number, std::array<std::uint64_t, 6> arguments) {
  seccomp_data data{
      .nr = static_cast<int>(number), .arch = 0, .instruction_pointer = 0, .args = {}};
  std::copy(arguments.begin(), arguments.end(), data.args);
  return named_by(data);
}

NamedPath only(const Named& all) {
  EXPECT_EQ(all.paths.size(), 1U);
  return all.paths.empty() ? NamedPath{} : all.paths.front();
}

Use opened_for(std::uint64_t flags) { return only(named(SYS_openat, {3, 0x10, flags})).use; }

TEST(SeccompObservedTest, OpenIsReadByItsFlags) {
  EXPECT_EQ(opened_for(O_RDONLY), Use::read);
  EXPECT_EQ(opened_for(O_WRONLY), Use::write);
  EXPECT_EQ(opened_for(O_RDWR), Use::write);
  EXPECT_EQ(opened_for(O_RDONLY | O_TRUNC), Use::write);
  EXPECT_EQ(opened_for(O_RDWR | O_TMPFILE), Use::write);
  EXPECT_EQ(opened_for(O_CREAT), Use::create);
  EXPECT_EQ(opened_for(O_PATH | O_RDWR), Use::look);
  EXPECT_EQ(only(named(SYS_open, {0x10, O_WRONLY})).use, Use::write);
  EXPECT_EQ(only(named(SYS_creat, {0x10, 0644})).use, Use::create);
}

TEST(SeccompObservedTest, KnowsWhereAPathBegins) {
  const NamedPath at = only(named(SYS_openat, {7, 0x10, 0}));
  EXPECT_EQ(at.directory, 7);
  EXPECT_EQ(at.address, 0x10U);
  // As the kernel: the low half, with its sign.
  EXPECT_EQ(only(named(SYS_openat, {0xffff'ff9c, 0x10, 0})).directory, AT_FDCWD);
  EXPECT_EQ(only(named(SYS_stat, {0x20})).directory, AT_FDCWD);
}

TEST(SeccompObservedTest, KnowsWhetherLinksAreFollowed) {
  EXPECT_TRUE(only(named(SYS_openat, {3, 0x10, 0})).follow);
  EXPECT_FALSE(only(named(SYS_openat, {3, 0x10, O_NOFOLLOW})).follow);
  EXPECT_FALSE(only(named(SYS_openat, {3, 0x10, O_CREAT | O_EXCL})).follow);
  EXPECT_TRUE(only(named(SYS_newfstatat, {3, 0x10, 0, 0})).follow);
  EXPECT_FALSE(only(named(SYS_newfstatat, {3, 0x10, 0, AT_SYMLINK_NOFOLLOW})).follow);
  EXPECT_FALSE(only(named(SYS_lstat, {0x10})).follow);
}

TEST(SeccompObservedTest, AccessIsReadByItsMode) {
  EXPECT_EQ(only(named(SYS_access, {0x10, R_OK})).use, Use::look);
  EXPECT_EQ(only(named(SYS_access, {0x10, W_OK | R_OK})).use, Use::write);
  EXPECT_EQ(only(named(SYS_faccessat, {3, 0x10, W_OK})).use, Use::write);
  EXPECT_EQ(only(named(SYS_faccessat2, {3, 0x10, X_OK, 0})).use, Use::look);
}

TEST(SeccompObservedTest, RenameAndLinkNameTwo) {
  const Named renamed = named(SYS_renameat2, {3, 0x10, 4, 0x20, 0});
  ASSERT_EQ(renamed.paths.size(), 2U);
  EXPECT_EQ(renamed.paths[0].use, Use::remove);
  EXPECT_EQ(renamed.paths[1].use, Use::replace);
  EXPECT_EQ(renamed.paths[1].directory, 4);
  EXPECT_EQ(renamed.paths[1].address, 0x20U);
  EXPECT_EQ(named(SYS_link, {0x10, 0x20}).paths.size(), 2U);
  EXPECT_EQ(only(named(SYS_symlinkat, {0x10, 5, 0x20})).address, 0x20U);
}

TEST(SeccompObservedTest, AddressesAreFound) {
  const auto connected = named(SYS_connect, {3, 0x10, 16}).socket;
  ASSERT_TRUE(connected);
  EXPECT_EQ(connected->address, 0x10U);
  EXPECT_FALSE(connected->send);
  const auto sent = named(SYS_sendto, {3, 0x10, 5, 0, 0x20, 16}).socket;
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->address, 0x20U);
  EXPECT_TRUE(sent->send);
}

TEST(SeccompObservedTest, OthersNameNothing) {
  const Named none = named(SYS_read, {3, 0x10, 5});
  EXPECT_TRUE(none.paths.empty());
  EXPECT_FALSE(none.socket);
}

}  // namespace
}  // namespace cordon::linux_backend
