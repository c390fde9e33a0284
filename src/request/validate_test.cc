#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "cordon/limits.h"
#include "cordon/request.h"

namespace cordon {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using namespace std::string_literals;

Request good() {
  Request request;
  request.program = "true";
  return request;
}

Framing framing(OutputMode mode) {
  Framing f;
  f.mode = mode;
  return f;
}

TEST(ValidateRequestTest, AcceptsTheSimplestRequest) { EXPECT_TRUE(validate(good())); }

TEST(ValidateRequestTest, AcceptsWhatLooksOddButIsAllowed) {
  Request request = good();
  request.args = {"", "--", "a b", "$(reboot)", "\xff\xfe"};
  request.env = {{"A", ""}, {"B", "x=y"}, {"with space", "1"}};
  request.env_pass = {};
  request.timeout = kNoTimeout;
  request.grace = kNoTimeout;
  request.limits.file_size_bytes = 0;
  request.limits.output_bytes = 0;
  request.out = Output::to_fd(0);
  request.in = Input::from_fd(0);
  request.grants = {Grant::read("/a/../b"), Grant::tmpfs("/c", 1)};  // the plan's to judge
  request.cgroup_parent = "/a..b/c..";
  request.user = User{0, 0};
  const auto ok = validate(request);
  EXPECT_TRUE(ok) << ok.error().message;
}

struct Refusal {
  const char* field;  // what the message has to name
  std::function<void(Request&)> spoil;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.field; }

class ValidateRequestRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(ValidateRequestRefuses, NamingTheField) {  // C130
  Request request = good();
  GetParam().spoil(request);
  const auto result = validate(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().stage, "validate");
  EXPECT_EQ(result.error().os_error, 0);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().field));
}

INSTANTIATE_TEST_SUITE_P(
    Strings, ValidateRequestRefuses,
    testing::Values(
        Refusal{"program is empty", [](Request& r) { r.program = ""; }},
        Refusal{"program contains a NUL", [](Request& r) { r.program = "a\0b"s; }},
        Refusal{"argument 2 contains a NUL", [](Request& r) { r.args = {"ok", "a\0"s}; }},
        Refusal{"argv0 contains a NUL", [](Request& r) { r.argv0 = "a\0b"s; }},
        Refusal{"cwd contains a NUL", [](Request& r) { r.cwd = "/\0tmp"s; }},
        Refusal{"environment variable name \"\"", [](Request& r) { r.env = {{"", "x"}}; }},
        Refusal{"environment variable name \"A\"", [](Request& r) { r.env = {{"A=B", "x"}}; }},
        Refusal{"environment variable name", [](Request& r) { r.env = {{"A\0B"s, "x"}}; }},
        Refusal{"environment variable SECOND",
                [](Request& r) { r.env = {{"FIRST", "x"}, {"SECOND", "a\0b"s}}; }}));

INSTANTIATE_TEST_SUITE_P(
    Isolation, ValidateRequestRefuses,
    testing::Values(
        Refusal{"grants[0].source \"a\" is not absolute",
                [](Request& r) { r.grants = {Grant::read("a")}; }},
        Refusal{"grants[0].source \"\" is not absolute",
                [](Request& r) { r.grants = {Grant::write("")}; }},
        Refusal{"grants[1].source contains a NUL",
                [](Request& r) { r.grants = {Grant::read("/a"), Grant::read("/b\0"s)}; }},
        Refusal{"grants[0].target \"b\" is not absolute",
                [](Request& r) { r.grants = {Grant::bind("/a", "b", Grant::Kind::read)}; }},
        Refusal{"grants[0].target contains a NUL",
                [](Request& r) { r.grants = {Grant::bind("/a", "/\0"s, Grant::Kind::read)}; }},
        Refusal{"grants[0].target \"\" is not absolute",
                [](Request& r) { r.grants = {Grant::tmpfs("")}; }},
        Refusal{"pinned path", [](Request& r) { r.pins = {{"bin/true", 3}}; }},
        Refusal{"pinned path", [](Request& r) { r.pins = {{"/bin\0"s, 3}}; }},
        Refusal{"pin of /bin/true has no descriptor",
                [](Request& r) { r.pins = {{"/bin/true", -1}}; }},
        Refusal{"cgroup_parent contains a NUL", [](Request& r) { r.cgroup_parent = "a\0b"s; }},
        Refusal{"cgroup_parent \"..\"", [](Request& r) { r.cgroup_parent = ".."; }},
        Refusal{"cgroup_parent \"/a/../b\"", [](Request& r) { r.cgroup_parent = "/a/../b"; }},
        Refusal{"user has the id 4294967295", [](Request& r) { r.user = User{0xFFFFFFFF, 1}; }}));

INSTANTIATE_TEST_SUITE_P(
    Streams, ValidateRequestRefuses,
    testing::Values(
        Refusal{"in.fd", [](Request& r) { r.in = Input::from_fd(-1); }},
        Refusal{"out.fd", [](Request& r) { r.out = Output::to_fd(-1); }},
        Refusal{"err.fd", [](Request& r) { r.err = Output::to_fd(-7); }},
        Refusal{"out.framing.chunk_size",
                [](Request& r) {
                  r.out.framing = framing(OutputMode::chunked);
                  r.out.framing.chunk_size = 0;
                }},
        Refusal{"err.framing.chunk_size",
                [](Request& r) {
                  r.err.framing = framing(OutputMode::chunked);
                  r.err.framing.chunk_size = 0;
                }},
        Refusal{"out.framing.max_frame", [](Request& r) { r.out.framing.max_frame = 0; }},
        Refusal{"err.framing.max_depth", [](Request& r) { r.err.framing.max_depth = 0; }},
        Refusal{"event_buffer", [](Request& r) { r.event_buffer = 0; }},
        Refusal{"a terminal needs in", [](Request& r) { r.terminal.emplace(); }},
        Refusal{"a terminal needs in", [](Request& r) {
                  r.terminal.emplace();
                  r.in = Input::pipe();
                  r.out = Output::inherit();
                }}));

INSTANTIATE_TEST_SUITE_P(
    Limits, ValidateRequestRefuses,
    testing::Values(Refusal{"timeout", [](Request& r) { r.timeout = -1ns; }},
                    Refusal{"grace", [](Request& r) { r.grace = -1ns; }},
                    Refusal{"limit cpu_time", [](Request& r) { r.limits.cpu_time = 0ns; }},
                    Refusal{"limit cpu_time", [](Request& r) { r.limits.cpu_time = -1s; }},
                    Refusal{"limit cpu_millicores",
                            [](Request& r) { r.limits.cpu_millicores = 0; }},
                    Refusal{"limit memory", [](Request& r) { r.limits.memory_bytes = 0; }},
                    Refusal{"limit files is 2", [](Request& r) { r.limits.open_files = 2; }},
                    Refusal{"limit processes", [](Request& r) { r.limits.processes = 0; }}));

TEST(ValidateRequestTest, AcceptsATerminalWithPipeAndEvents) {
  Request request = good();
  request.terminal.emplace();
  request.in = Input::pipe();
  EXPECT_TRUE(validate(request));
}

TEST(ValidateRequestTest, NeverRepeatsASecretValue) {  // C65
  Request request = good();
  request.env = {{"TOKEN", "s3cr3t\0"s}};
  const auto result = validate(request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::Not(HasSubstr("s3cr3t")));
}

TEST(ValidateLimitsTest, AcceptsNoneAndTheSmallest) {
  EXPECT_TRUE(validate(Limits{}));
  EXPECT_TRUE(validate(Limits{.cpu_time = 1ns,
                              .cpu_millicores = 1,
                              .memory_bytes = 1,
                              .file_size_bytes = 0,
                              .open_files = 3,
                              .processes = 1,
                              .output_bytes = 0}));
}

TEST(ValidateLimitsTest, RefusesValuesTheOsCannotExpress) {
  constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const std::pair<const char*, std::optional<std::uint64_t> Limits::*> fields[] = {
      {"memory", &Limits::memory_bytes}, {"file_size", &Limits::file_size_bytes},
      {"files", &Limits::open_files},    {"processes", &Limits::processes},
      {"output", &Limits::output_bytes},
  };
  for (const auto& [name, field] : fields) {
    Limits limits;
    limits.*field = kMost;
    EXPECT_TRUE(validate(limits)) << name;
    limits.*field = kMost + 1;
    const auto result = validate(limits);
    ASSERT_FALSE(result) << name;
    EXPECT_THAT(result.error().message, HasSubstr("limit " + std::string(name)));
  }
}

TEST(WithDefaultsTest, FillsOnlyWhatWasNotAsked) {  // C15
  const Limits defaults{.cpu_time = 1s,
                        .cpu_millicores = 2,
                        .memory_bytes = 3,
                        .file_size_bytes = 4,
                        .open_files = 5,
                        .processes = 6,
                        .output_bytes = 7};
  EXPECT_EQ(with_defaults(Limits{}, defaults), defaults);
  EXPECT_EQ(with_defaults(Limits{}, Limits{}), Limits{});

  const Limits asked{.cpu_time = 10s,
                     .cpu_millicores = 20,
                     .memory_bytes = 30,
                     .file_size_bytes = 0,  // zero is asked for, not left open
                     .open_files = 50,
                     .processes = 60,
                     .output_bytes = 0};
  EXPECT_EQ(with_defaults(asked, defaults), asked);
  EXPECT_EQ(with_defaults(asked, Limits{}), asked);

  const Limits mixed = with_defaults(Limits{.memory_bytes = 30}, defaults);
  EXPECT_EQ(mixed.memory_bytes, 30U);
  EXPECT_EQ(mixed.open_files, 5U);
}

TEST(RequestTest, DefaultsAreTheDocumentedOnes) {
  EXPECT_EQ(kDefaultTimeout, 5min);  // C30
  EXPECT_EQ(kDefaultGrace, 5s);
  EXPECT_EQ(Request{}.timeout, 0s);
  EXPECT_EQ(Request{}.grace, 5s);
  EXPECT_EQ(Request{}.event_buffer, 1048576U);  // C125
  EXPECT_EQ(Request{}.limits, Limits{});
}

TEST(ValidateRequest, DoesNotRepeatAValueThatWasGivenAsAName) {  // C65
  Request request{.program = "x", .env = {{.name = "TOKEN=hunter2", .value = ""}}};
  const auto refused = validate(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace cordon
