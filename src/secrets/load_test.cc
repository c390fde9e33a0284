#include "secrets/load.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "secrets/command_source.h"

namespace cordon::secrets {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class LoadTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "cordon-secrets-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(std::string_view content, mode_t mode = 0600) {
    const std::string path = directory_ / "value";
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  static Result<std::vector<Secret>> load_from(const std::string& source,
                                               Secret::Delivery delivery = Secret::Delivery::fd) {
    const Ask ask{.name = "TOKEN", .source = parse_source(source).value(), .delivery = delivery};
    return load({&ask, 1});
  }
  static std::string value_from(const std::string& source) {
    const auto loaded = load_from(source);
    return loaded ? std::string(loaded->at(0).value.reveal()) : "! " + loaded.error().message;
  }

  std::filesystem::path directory_;
};

TEST_F(LoadTest, FilesAreReadWithoutOneNewline) {
  EXPECT_EQ(value_from("file:" + file("hunter2")), "hunter2");
  EXPECT_EQ(value_from("file:" + file("hunter2\n")), "hunter2");
  EXPECT_EQ(value_from("file:" + file("hunter2\n\n")), "hunter2\n");
  EXPECT_EQ(value_from("file:" + file(std::string_view("a\0b", 3))), std::string("a\0b", 3));
  EXPECT_EQ(value_from("file:" + file("read-only", 0400)), "read-only");
}

TEST_F(LoadTest, FilesThatOthersCanReadAreRefused) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0660U, 0644U}) {
    const auto refused = load_from("file:" + file("hunter2", mode));
    ASSERT_FALSE(refused) << std::oct << mode;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, HasSubstr("chmod 600 " + directory_.string()));
    EXPECT_THAT(refused.error().message, HasSubstr("secret TOKEN: file:"));
  }
}

TEST_F(LoadTest, ForeignFilesAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "user: only root can give files away";
  const std::string path = file("hunter2");
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_THAT(value_from("file:" + path), HasSubstr("belongs to another user (uid 12345)"));
}

TEST_F(LoadTest, OnlyRegularFilesAreRead) {
  const std::string path = file("hunter2");
  const std::string link = directory_ / "link";
  std::filesystem::create_symlink(path, link);
  EXPECT_THAT(value_from("file:" + link), HasSubstr("is a symbolic link"));
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(value_from("file:" + pipe), HasSubstr("is not a regular file"));
  EXPECT_THAT(value_from("file:" + directory_.string()), HasSubstr("is not a regular file"));
  EXPECT_THAT(value_from("file:" + (directory_ / "none").string()),
              HasSubstr("cannot be opened: No such file or directory"));
}

TEST_F(LoadTest, EmptyAndHugeAreRefused) {
  EXPECT_THAT(value_from("file:" + file("")), HasSubstr("is empty"));
  EXPECT_THAT(value_from("file:" + file("\n")), HasSubstr("is empty"));
  EXPECT_EQ(value_from("file:" + file(std::string(kMostSecretBytes, 'x') + "\n")).size(),
            kMostSecretBytes);
  EXPECT_THAT(value_from("file:" + file(std::string(kMostSecretBytes + 1, 'x'))),
              HasSubstr("has more than 65536 bytes"));
  EXPECT_THAT(value_from("file:/dev/zero"), HasSubstr("is not a regular file"));
}

TEST_F(LoadTest, ANulCannotBeDeliveredByVariable) {
  const std::string source = "file:" + file(std::string_view("a\0b", 3));
  EXPECT_FALSE(load_from(source, Secret::Delivery::env));
  EXPECT_TRUE(load_from(source, Secret::Delivery::file));
}

TEST_F(LoadTest, VariablesAreTakenOutOfTheEnvironment) {
  ASSERT_EQ(::setenv("CORDON_TEST_SECRET", "hunter2\n", 1), 0);
  const char* const place = std::getenv("CORDON_TEST_SECRET");
  const Ask asks[] = {{.name = "A", .source = parse_source("env:CORDON_TEST_SECRET").value()},
                      {.name = "B", .source = parse_source("env:CORDON_TEST_SECRET").value()}};
  const auto loaded = load(asks);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->at(0).value.reveal(), "hunter2\n") << "as it is, with its newline";
  EXPECT_EQ(loaded->at(1).value.reveal(), "hunter2\n");
  EXPECT_EQ(std::getenv("CORDON_TEST_SECRET"), nullptr);
  EXPECT_EQ(std::string(place), "") << "the bytes are still there";
  EXPECT_THAT(value_from("env:CORDON_TEST_SECRET"), HasSubstr("there is no such variable"));
}

TEST_F(LoadTest, DescriptorsAreReadToTheirEndAndClosed) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "hunter2\n", 8), 8);
  ::close(ends[1]);
  const std::string source = "fd:" + std::to_string(ends[0]);
  EXPECT_EQ(value_from(source), "hunter2");
  EXPECT_THAT(value_from(source), HasSubstr("cannot be read: Bad file descriptor"));
}

TEST_F(LoadTest, CommandsPrintTheValue) {
  EXPECT_EQ(value_from("command:printf hunter2"), "hunter2");
  EXPECT_EQ(value_from(R"(command:["sh","-c","echo 'two words'"])"), "two words");
  EXPECT_EQ(value_from("command:echo $HOME;id"), "$HOME;id") << "no shell";
}

TEST_F(LoadTest, ACommandThatFailsLeavesNothingOfItsOutput) {  // C65
  for (const char* source : {R"(command:["sh","-c","echo hunter2; echo hunter2 >&2; exit 3"])",
                             R"(command:["sh","-c","echo hunter2; kill -9 $$"])",
                             R"(command:["sh","-c","yes hunter2"])"}) {
    const std::string message = value_from(source);
    EXPECT_THAT(message, HasSubstr("! secret TOKEN: command:sh")) << source;
    EXPECT_THAT(message, Not(HasSubstr("hunter2"))) << source;
  }
  EXPECT_THAT(value_from(R"(command:["sh","-c","exit 3"])"), HasSubstr("exited with 3"));
  EXPECT_THAT(value_from("command:/no/such/program"), HasSubstr("not found"));
  EXPECT_THAT(value_from("command:true"), HasSubstr("is empty"));
}

TEST_F(LoadTest, ACommandDoesNotHoldUsUp) {
  const auto hangs = read_from_command({"sleep", "1000"}, 100ms);
  ASSERT_FALSE(hangs);
  EXPECT_EQ(hangs.error().code, ErrorCode::timed_out);
  // Its stdout stays open in a process that got away.
  const auto escapes = read_from_command(
      {"sh", "-c", "exec 3>&1; x=$(setsid sh -c 'exec sleep 4 >&3' &); echo hunter2"}, 100ms);
  ASSERT_FALSE(escapes);
  EXPECT_EQ(escapes.error().code, ErrorCode::timed_out);
}

TEST_F(LoadTest, BadNamesAreErrors) {  // C63
  const Ask ask{.name = "A-B", .source = parse_source("env:HOME").value()};
  const auto refused = load({&ask, 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("\"A-B\" is not valid"));
}

}  // namespace
}  // namespace cordon::secrets
