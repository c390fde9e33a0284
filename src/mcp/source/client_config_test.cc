#include "mcp/source/client_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::mcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Error error_of(std::string_view text, std::string_view name = "a") {
  const auto read = read_client_config(text, "c.json", name);
  EXPECT_FALSE(read) << text;
  return read ? Error{} : read.error();
}

TEST(ClientConfig, NamesProgramArgumentsAndVariables) {
  const auto server = read_client_config(R"({"other": 1, "mcpServers": {"b": {"command": "x"},
      "a": {"command": "npx", "args": ["-y", "server", "/data"], "cwd": "/srv",
            "env": {"TOKEN": "t", "A": ""}}}})",
                                         "c.json", "a");
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(server->name, "a");
  EXPECT_EQ(server->command, "npx");
  EXPECT_THAT(server->args, ElementsAre("-y", "server", "/data"));
  EXPECT_THAT(server->env, ElementsAre(Pair("TOKEN", "t"), Pair("A", "")));
  EXPECT_EQ(server->cwd, "/srv");
}

TEST(ClientConfig, OfVsCodeMayHaveComments) {
  const auto server = read_client_config(R"({
      // mine
      "servers": {"a": {"type": "stdio", "command": "node", "args": ["s.js",],},},})",
                                         "mcp.json", "a");
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(server->command, "node");
}

TEST(ClientConfig, WithoutThatServerNamesThoseItHas) {
  constexpr auto kText = R"({"mcpServers": {"files": {"command": "x"}, "git": {"command": "y"}}})";
  const Error error = error_of(kText, "file");
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_THAT(error.message, AllOf(HasSubstr("c.json"), HasSubstr("files, git"),
                                   HasSubstr("did you mean files?")));
}

TEST(ClientConfig, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("{").message, HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[]").message, HasSubstr("neither"));
  EXPECT_THAT(error_of(R"({"mcpServers": []})").message, HasSubstr("neither"));
  EXPECT_THAT(error_of(R"({"servers": {"a": 1}})").message, HasSubstr("not an object"));
  EXPECT_THAT(error_of(R"({"servers": {"a": {}}})").message, HasSubstr("no \"command\""));
  EXPECT_THAT(error_of(R"({"servers": {"a": {"command": 1}}})").message, HasSubstr("no string"));
  EXPECT_THAT(error_of(R"({"servers": {"a": {"command": "x", "args": "y"}}})").message,
              HasSubstr("no array"));
  EXPECT_THAT(error_of(R"({"servers": {"a": {"command": "x", "args": [1]}}})").message,
              HasSubstr("an argument that is no string"));
  EXPECT_THAT(error_of(R"({"servers": {"a": {"command": "x", "env": {"T": 1}}}})").message,
              HasSubstr("variable T"));
  EXPECT_THAT(error_of(std::string(1000, '[')).message, HasSubstr("nested too deep"));
}

TEST(ClientConfig, RefusesWhatItCannotFillInAndWhatRunsElsewhere) {
  EXPECT_EQ(error_of(R"({"servers": {"a": {"type": "http", "url": "u"}}})").code,
            ErrorCode::unsupported);
  for (const char* const text :
       {R"({"servers": {"a": {"command": "x", "env": {"T": "${input:t}"}}}})",
        R"({"servers": {"a": {"command": "${env:X}"}}})",
        R"({"servers": {"a": {"command": "x", "args": ["${workspaceFolder}"]}}})"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::unsupported) << text;
  }
}

}  // namespace
}  // namespace cordon::mcp
