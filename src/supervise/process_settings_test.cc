#include "supervise/process_settings.h"

#include <gtest/gtest.h>

namespace cordon::supervise {
namespace {

TEST(ProcessSettingsTest, FieldIsSet) {
  Request request{.program = "p"};
  ASSERT_TRUE(set_field(request, &Request::in, Input::bytes("text")));
  EXPECT_EQ(request.in.data, "text");
}

TEST(ProcessSettingsTest, FieldStaysIfTheRequestWouldBeInvalid) {
  Request request{.program = "p", .in = Input::bytes("text")};
  EXPECT_FALSE(set_field(request, &Request::in, Input::from_fd(-1)));
  EXPECT_EQ(request.in.kind, Input::Kind::bytes);
  EXPECT_EQ(request.in.data, "text");
}

TEST(ProcessSettingsTest, ErrorsNameTheProgramAndWhatIsWrong) {
  const Request request{.program = "p"};
  EXPECT_EQ(already_started(request, "a").error().message,
            "p has been started: do this before start()");
  EXPECT_EQ(not_running(request, true, "a").error().message, "p has ended");
  EXPECT_EQ(not_running(request, false, "a").error().message, "p has not been started");
  EXPECT_EQ(not_running(request, false, "a").error().code, ErrorCode::wrong_state);
  EXPECT_EQ(not_running(request, false, "a").error().stage, "a");
}

}  // namespace
}  // namespace cordon::supervise
