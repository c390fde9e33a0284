// No name, link, PATH or #! line gets another program past the check than the one that runs.
#include "execution/program_check.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "execution/test_folder.h"

namespace cordon::execution {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string real(const std::string& path) { return fs::canonical(path); }

class ProgramCheckTest : public FolderTest {
 protected:
  [[nodiscard]] Result<CheckedPrograms> check(const std::string& program,
                                              const std::string& search = "", bool digests = false,
                                              bool by_name = false) const {
    Request request{.program = program, .args = {"one"}};
    request.env = {{"PATH", search.empty() ? "/usr/bin:/bin" : search}};
    return check_programs(request, folder_, digests, by_name);
  }
  [[nodiscard]] static std::vector<std::string> paths(const Result<CheckedPrograms>& checked) {
    std::vector<std::string> all;
    if (!checked) return {checked.error().message};
    for (const auto& file : checked->files) all.push_back(file.path);
    return all;
  }
  [[nodiscard]] static std::string error(const Result<CheckedPrograms>& checked) {
    return checked ? "" : checked.error().message;
  }
};

TEST_F(ProgramCheckTest, ANameIsLookedUpAndItsLinksResolved) {
  const auto checked = check("sh");
  EXPECT_THAT(paths(checked), ElementsAre(real("/bin/sh")));
  EXPECT_EQ(checked->request.program, real("/bin/sh"));
  EXPECT_EQ(checked->request.argv0, "sh");
  EXPECT_THAT(checked->request.args, ElementsAre("one"));
}

TEST_F(ProgramCheckTest, LinksAndRelativeNamesAreWhatTheyLeadTo) {
  fs::create_symlink("/bin/sh", path("harmless"));
  EXPECT_THAT(paths(check("./harmless")), ElementsAre(real("/bin/sh")));
  EXPECT_THAT(paths(check("harmless", folder_)), ElementsAre(real("/bin/sh")));
  EXPECT_THAT(paths(check("../" + fs::path(folder_).filename().string() + "/harmless")),
              ElementsAre(real("/bin/sh")));
}

TEST_F(ProgramCheckTest, PinsOfTheRequestAreNotTrusted) {
  Request request{.program = "/bin/sh"};
  request.pins = {{.path = "/bin/sh", .fd = 0}};
  const auto checked = check_programs(request, folder_, false, false);
  ASSERT_TRUE(checked);
  ASSERT_EQ(checked->request.pins.size(), 1U);
  EXPECT_EQ(checked->request.pins.front().fd, checked->held.front().get());
}

TEST_F(ProgramCheckTest, ADirectoryInFrontOfPathIsNoticed) {
  const std::string mine = file("sh",
                                "\x7f"
                                "ELF",
                                0700);
  EXPECT_THAT(paths(check("sh", folder_ + ":/bin")), ElementsAre(mine));
}

TEST_F(ProgramCheckTest, AScriptBringsItsInterpreterAndIsRunByIt) {
  const std::string script = file("tool", "#!/bin/sh -e\n", 0700);
  fs::create_symlink("tool", path("link"));
  const auto checked = check("./link");
  EXPECT_THAT(paths(checked), ElementsAre(script, real("/bin/sh")));
  EXPECT_THAT(checked->files.front().args, ElementsAre("one"));
  EXPECT_THAT(checked->files.back().args, ElementsAre("-e", script, "one"));
  EXPECT_EQ(checked->request.program, real("/bin/sh"));
  EXPECT_EQ(checked->request.argv0, "/bin/sh");
  EXPECT_THAT(checked->request.args, ElementsAre("-e", script, "one"));
  ASSERT_EQ(checked->request.pins.size(), 2U);
  EXPECT_EQ(checked->request.pins.front().path, script);
}

TEST_F(ProgramCheckTest, EnvIsFollowedToWhatItWouldRun) {
  const std::string script = file("tool", "#! /usr/bin/env sh\n", 0700);
  const auto checked = check("./tool");
  EXPECT_THAT(paths(checked), ElementsAre(script, real("/usr/bin/env"), real("/bin/sh")));
  EXPECT_EQ(checked->request.program, real("/bin/sh"));
  EXPECT_EQ(checked->request.argv0, "sh");
  EXPECT_THAT(checked->request.args, ElementsAre(script, "one"));

  // Under another name it is still env.
  fs::create_symlink("/usr/bin/env", path("python3"));
  file("hidden", "#!" + path("python3") + " sh\n", 0700);
  EXPECT_THAT(paths(check("./hidden")), testing::Contains(real("/bin/sh")));

  for (const char* const line : {"-S sh -e", "A=1 sh", "-i"}) {
    file("options", std::string("#!/usr/bin/env ") + line + "\n", 0700);
    EXPECT_THAT(error(check("./options")), HasSubstr("cannot be told what would run")) << line;
  }
}

TEST_F(ProgramCheckTest, ScriptsThatRunScriptsAreFollowedAndBounded) {
  file("a", "#!" + path("b") + "\n", 0700);
  file("b", "#!/usr/bin/env c\n", 0700);
  file("c", "#!/bin/sh\n", 0700);
  const auto checked = check("./a", folder_ + ":/bin:/usr/bin");
  EXPECT_THAT(paths(checked),
              ElementsAre(path("a"), path("b"), real("/usr/bin/env"), path("c"), real("/bin/sh")));
  EXPECT_EQ(checked->request.argv0, "/bin/sh");
  EXPECT_THAT(checked->request.args, ElementsAre(path("c"), path("b"), path("a"), "one"));
  file("loop", "#!" + path("loop") + "\n", 0700);
  EXPECT_THAT(error(check("./loop")), HasSubstr("an interpreter that is a script, and so on"));
}

TEST_F(ProgramCheckTest, RelativeInterpretersBelongToTheWorkingDirectory) {
  fs::create_symlink("/bin/sh", path("interpreter"));
  file("tool", "#!interpreter\n", 0700);
  EXPECT_THAT(paths(check("./tool")), ElementsAre(path("tool"), real("/bin/sh")));
}

TEST_F(ProgramCheckTest, LinesThatTheKernelMightReadOtherwiseAreRefused) {
  file("long", "#!/bin/" + std::string(300, 'x') + "\n", 0700);
  EXPECT_THAT(error(check("./long")), HasSubstr("longer than 255 bytes"));
  file("nul", std::string("#!/bin/sh\0x\n", 12), 0700);
  EXPECT_THAT(error(check("./nul")), HasSubstr("NUL byte"));
  file("empty", "#! \n", 0700);
  EXPECT_THAT(error(check("./empty")), HasSubstr("names no interpreter"));
}

TEST_F(ProgramCheckTest, TheDigestIsOfWhatIsPinned) {
  const std::string content(200'000, 'x');
  const std::string tool = file("tool", content, 0700);
  const auto checked = check(tool, "", true);
  ASSERT_TRUE(checked) << error(checked);
  EXPECT_EQ(checked->files.front().sha256, base::to_hex(base::sha256(content)));
  // Swapped for another: the descriptor still is what was looked at.
  const std::string other = file("other", "evil", 0700);
  struct stat before{};
  ASSERT_EQ(::fstat(checked->request.pins.front().fd, &before), 0);
  fs::rename(other, tool);
  struct stat now{};
  struct stat pinned{};
  ASSERT_EQ(::stat(tool.c_str(), &now), 0);
  ASSERT_EQ(::fstat(checked->request.pins.front().fd, &pinned), 0);
  EXPECT_EQ(pinned.st_ino, before.st_ino);
  EXPECT_NE(pinned.st_ino, now.st_ino);
}

TEST_F(ProgramCheckTest, FilesThatOthersCanWriteToAreRefused) {
  file("tool",
       "\x7f"
       "ELF",
       0722);
  EXPECT_THAT(error(check("./tool")), HasSubstr("could be changed by others"));
  EXPECT_EQ(check("./tool").error().code, ErrorCode::not_permitted);
  // Without pins, so could what is at its place.
  file("open/tool",
       "\x7f"
       "ELF",
       0700);
  ::chmod(path("open").c_str(), 0777);
  EXPECT_EQ(error(check("open/tool")), "");
  EXPECT_THAT(error(check("open/tool", "", false, true)),
              HasSubstr("others may write to its directory"));
}

TEST_F(ProgramCheckTest, WhatIsNotThereOrNoFileIsSaidSo) {
  EXPECT_EQ(check("no-such-program").error().code, ErrorCode::not_found);
  EXPECT_EQ(check("./missing").error().code, ErrorCode::not_found);
  EXPECT_EQ(check("/usr").error().code, ErrorCode::not_executable);
  file("tool", "#!/no/such/interpreter\n", 0700);
  EXPECT_EQ(check("./tool").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace cordon::execution
