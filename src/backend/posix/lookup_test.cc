#include "backend/posix/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cordon::posix {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class LookupTest : public testing::Test {
 public:
  LookupTest() {
    std::string name = (fs::temp_directory_path() / "cordon_lookup_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~LookupTest() override { fs::remove_all(root_); }

 protected:
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0755) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path.string();
  }

  [[nodiscard]] std::string dir(const std::string& name) const { return (root_ / name).string(); }

  static Result<std::string> find(const std::string& name, const std::string& path) {
    return find_program(name, std::vector<std::string>{"HOME=/", "PATH=" + path});
  }

  fs::path root_;
};

TEST_F(LookupTest, SearchesThePathInOrder) {
  const std::string first = file("a/tool", "");
  const std::string second = file("b/tool", "");
  EXPECT_EQ(find("tool", dir("a") + ":" + dir("b")), first);
  EXPECT_EQ(find("tool", dir("b") + ":" + dir("a")), second);
  EXPECT_EQ(find("tool", dir("missing") + ":" + dir("b")), second);
}

TEST_F(LookupTest, NameWithASlashIsTakenAsItIs) {
  EXPECT_EQ(find("/no/such/program", "/bin"), "/no/such/program");
  EXPECT_EQ(find("./tool", "/bin"), "./tool");
  EXPECT_EQ(find("sub/tool", "/bin"), "sub/tool");
}

TEST_F(LookupTest, RelativeDirectoriesOfThePathAreNotSearched) {
  file("tool", "");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  // "", "." and a relative name would all find it.
  const auto found = find("tool", ":.:" + root_.filename().string() + "/..:./:");
  fs::current_path(before);
  ASSERT_FALSE(found) << *found;
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
}

TEST_F(LookupTest, UsesThePathTheProgramWillSeeNotTheCallers) {
  file("a/only-here", "");
  EXPECT_TRUE(find("only-here", dir("a")));
  EXPECT_FALSE(find_program("only-here", std::vector<std::string>{"XPATH=" + dir("a")}));
}

TEST_F(LookupTest, WithoutAPathTheUsualDirectoriesAreSearched) {
  const auto found = find_program("sh", std::vector<std::string>{});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, testing::EndsWith("/bin/sh"));
}

TEST_F(LookupTest, EmptyPathFindsNothing) {
  const auto found = find("sh", "");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
}

TEST_F(LookupTest, MissingProgramIsNotFoundAndNamedWithThePath) {  // C52
  const auto found = find("no-such-program", dir("a"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(found.error().stage, "exec");
  EXPECT_EQ(found.error().os_error, ENOENT);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("no-such-program"), HasSubstr(dir("a"))));
}

TEST_F(LookupTest, FileThatIsNotExecutableIsToldApart) {
  const std::string path = file("a/tool", "", 0644);
  const auto found = find("tool", dir("a"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_executable);
  EXPECT_EQ(found.error().os_error, EACCES);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr(path), HasSubstr("chmod +x")));
}

TEST_F(LookupTest, GoesOnAfterAFileThatIsNotExecutable) {
  file("a/tool", "", 0644);
  EXPECT_EQ(find("tool", dir("a") + ":" + dir("b")).error().code, ErrorCode::not_executable);
  const std::string good = file("b/tool", "");
  EXPECT_EQ(find("tool", dir("a") + ":" + dir("b")), good);
}

TEST_F(LookupTest, DirectoryOfThatNameIsSkipped) {
  fs::create_directories(root_ / "a/tool");
  EXPECT_EQ(find("tool", dir("a")).error().code, ErrorCode::not_found);
  const std::string good = file("b/tool", "");
  EXPECT_EQ(find("tool", dir("a") + ":" + dir("b")), good);
}

TEST_F(LookupTest, FollowsLinks) {
  const std::string target = file("x/real", "");
  fs::create_directories(root_ / "a");
  fs::create_symlink(target, root_ / "a/tool");
  fs::create_symlink("/no/such/file", root_ / "a/dangling");
  EXPECT_EQ(find("tool", dir("a")), dir("a/tool"));
  EXPECT_EQ(find("dangling", dir("a")).error().code, ErrorCode::not_found);
}

// What the kernel says, explained.

TEST_F(LookupTest, ExplainsAMissingFile) {
  const Error error = explain_exec_failure("/no/such/program", "", ENOENT);
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(error.stage, "exec");
  EXPECT_EQ(error.os_error, ENOENT);
  EXPECT_THAT(error.message, HasSubstr("/no/such/program"));
  EXPECT_EQ(explain_exec_failure("/dev/null/x", "", ENOTDIR).code, ErrorCode::not_found);
}

TEST_F(LookupTest, ExplainsWhatARelativePathIsRelativeTo) {
  EXPECT_THAT(explain_exec_failure("./tool", dir(""), ENOENT).message, HasSubstr(dir("")));
  EXPECT_THAT(explain_exec_failure("/tool", dir(""), ENOENT).message,
              testing::Not(HasSubstr(dir(""))));
}

TEST_F(LookupTest, NamesTheMissingInterpreter) {
  const struct {
    const char* first_line;
    const char* interpreter;
  } cases[] = {
      {"#!/usr/bin/python9\n", "/usr/bin/python9 "},
      {"#! /usr/bin/python9 -u\nprint()\n", "/usr/bin/python9 "},
      {"#!/usr/bin/python9", "/usr/bin/python9 "},
  };
  for (const auto& c : cases) {
    const std::string script = file("script", c.first_line);
    const Error error = explain_exec_failure(script, "", ENOENT);
    EXPECT_EQ(error.code, ErrorCode::not_executable);
    EXPECT_THAT(error.message, AllOf(HasSubstr(script), HasSubstr(c.interpreter)));
  }
}

TEST_F(LookupTest, ScriptWithForeignLineEndsIsToldSo) {  // the kernel looks for "/bin/sh\r"
  const Error error = explain_exec_failure(file("script", "#!/bin/sh\r\n"), "", ENOENT);
  EXPECT_EQ(error.code, ErrorCode::not_executable);
  EXPECT_THAT(error.message, HasSubstr("carriage return"));
}

TEST_F(LookupTest, FindsTheScriptFromTheWorkingDirectoryOfTheProgram) {
  file("sub/script", "#!/usr/bin/python9\n");
  const Error error = explain_exec_failure("./script", dir("sub"), ENOENT);
  EXPECT_EQ(error.code, ErrorCode::not_executable);
  EXPECT_THAT(error.message, HasSubstr("/usr/bin/python9"));
}

TEST_F(LookupTest, ProgramWithoutItsLoaderIsNotExecutable) {
  const std::string program = file("program",
                                   "\x7f"
                                   "ELF…");
  const Error error = explain_exec_failure(program, "", ENOENT);
  EXPECT_EQ(error.code, ErrorCode::not_executable);
  EXPECT_THAT(error.message, HasSubstr("loader"));
}

TEST_F(LookupTest, ExplainsARefusal) {
  const Error plain = explain_exec_failure(file("plain", "", 0644), "", EACCES);
  EXPECT_EQ(plain.code, ErrorCode::not_executable);
  EXPECT_THAT(plain.message, HasSubstr("chmod +x"));

  const Error directory = explain_exec_failure(dir(""), "", EACCES);
  EXPECT_EQ(directory.code, ErrorCode::not_executable);
  EXPECT_THAT(directory.message, HasSubstr("it is a directory"));
}

TEST_F(LookupTest, ExplainsAFormatTheSystemDoesNotKnow) {
  const Error error = explain_exec_failure("/x/data", "", ENOEXEC);
  EXPECT_EQ(error.code, ErrorCode::not_executable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/x/data"), HasSubstr("#!")));
}

TEST_F(LookupTest, ExplainsTheRest) {
  EXPECT_THAT(explain_exec_failure("/x", "", E2BIG).message, HasSubstr("arguments"));
  EXPECT_EQ(explain_exec_failure("/x", "", E2BIG).code, ErrorCode::not_executable);
  EXPECT_EQ(explain_exec_failure("/x", "", ENOMEM).code, ErrorCode::resource_exhausted);
  EXPECT_EQ(explain_exec_failure("/x", "", EAGAIN).code, ErrorCode::resource_exhausted);
  const Error other = explain_exec_failure("/x", "", ETXTBSY);
  EXPECT_EQ(other.code, ErrorCode::not_executable);
  EXPECT_EQ(other.os_error, ETXTBSY);
}

}  // namespace
}  // namespace cordon::posix
