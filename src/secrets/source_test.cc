#include "secrets/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::secrets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Source, IsParsed) {
  EXPECT_EQ(parse_source("file:/etc/key,1=2").value(),
            (Source{.kind = Source::Kind::file, .place = "/etc/key,1=2"}));
  EXPECT_EQ(parse_source("env:API_KEY").value(),
            (Source{.kind = Source::Kind::variable, .place = "API_KEY"}));
  EXPECT_EQ(parse_source("fd:3").value(),
            (Source{.kind = Source::Kind::descriptor, .descriptor = 3}));
  EXPECT_THAT(parse_source("command:pass  show api").value().argv,
              ElementsAre("pass", "show", "api"));
  EXPECT_THAT(parse_source(R"(command:["pass","show","my key",""])").value().argv,
              ElementsAre("pass", "show", "my key", ""));
}

TEST(Source, RefusalsNeverShowWhatMayBeTheValue) {  // C65
  for (const char* text : {"hunter2", "", ":hunter2", "files:hunter2", "fd:hunter2", "fd:-1",
                           "fd:", "file:", "env:", "env:X=hunter2", "command:", "command:[",
                           "command:[]", "command:[\"hunter2\",1]", "command:[\"\"]",
                           "command:{\"a\":1", "https://u:hunter2@host"}) {
    const auto refused = parse_source(text);
    if (std::string_view(text) == "command:{\"a\":1") {
      EXPECT_TRUE(refused) << "words, not an array";
      continue;
    }
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(Source, IsNamedWithoutArguments) {
  EXPECT_EQ(describe(parse_source("file:a\nb").value()), "file:a\\nb");
  EXPECT_EQ(describe(parse_source("env:A").value()), "env:A");
  EXPECT_EQ(describe(parse_source("fd:7").value()), "fd:7");
  EXPECT_EQ(describe(parse_source("command:vault --token hunter2").value()), "command:vault");
}

TEST(Source, DeliveriesHaveNames) {
  EXPECT_EQ(parse_delivery("fd").value(), Secret::Delivery::fd);
  EXPECT_EQ(parse_delivery("file").value(), Secret::Delivery::file);
  EXPECT_FALSE(parse_delivery("argv"));
}

}  // namespace
}  // namespace cordon::secrets
