#include "base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <utility>

namespace cordon::base {
namespace {

using testing::HasSubstr;

TEST(ErrorsTest, MapsEachErrnoToWhatTheCallerCanDo) {
  const std::pair<int, ErrorCode> expected[] = {
      {ENOENT, ErrorCode::not_found},
      {EPERM, ErrorCode::not_permitted},
      {EACCES, ErrorCode::not_permitted},
      {EMFILE, ErrorCode::resource_exhausted},
      {ENFILE, ErrorCode::resource_exhausted},
      {ENOMEM, ErrorCode::resource_exhausted},
      {EAGAIN, ErrorCode::resource_exhausted},
      {EPIPE, ErrorCode::closed},
      {ENOSYS, ErrorCode::unsupported},
      {EOPNOTSUPP, ErrorCode::unsupported},
      {EBADF, ErrorCode::system},
      {EINVAL, ErrorCode::system},
      {ESRCH, ErrorCode::system},
  };
  for (const auto& [os_error, code] : expected) {
    EXPECT_EQ(code_of_errno(os_error), code) << errno_text(os_error);
  }
}

TEST(ErrorsTest, OsFailureKeepsErrnoStageAndReason) {
  const Error error = fail_os("chdir", ENOENT, "changing to /nowhere").error();
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.stage, "chdir");
  EXPECT_EQ(error.os_error, ENOENT);
  EXPECT_EQ(error.message, "changing to /nowhere: No such file or directory");
}

TEST(ErrorsTest, OwnFailureHasNoErrno) {
  errno = ENOENT;  // left over from something else
  const Error error = fail(ErrorCode::wrong_state, "start", "started before").error();
  EXPECT_EQ(error.code, ErrorCode::wrong_state);
  EXPECT_EQ(error.stage, "start");
  EXPECT_EQ(error.os_error, 0);
  EXPECT_EQ(error.message, "started before");
}

TEST(ErrorsTest, UnknownErrnoStillHasAText) { EXPECT_THAT(errno_text(99999), HasSubstr("99999")); }

TEST(ErrorCodeTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::system); ++code) {
    const std::string_view name = to_string(static_cast<ErrorCode>(code));
    EXPECT_NE(name, "unknown") << code;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(to_string(ErrorCode::not_found), "not_found");
  EXPECT_EQ(to_string(static_cast<ErrorCode>(200)), "unknown");
}

}  // namespace
}  // namespace cordon::base
