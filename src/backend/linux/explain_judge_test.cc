#include "backend/linux/explain_judge.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>

namespace cordon::linux_backend {
namespace {

using plan::View;
using State = InsideFile::State;

const Surroundings& around() {
  static const Surroundings kAround{
      .views = {
          {.target = "/usr", .source = "/usr"},
          {.kind = View::Kind::symlink, .target = "/bin", .content = "usr/bin"},
          {.kind = View::Kind::tmpfs, .target = "/tmp", .writable = true},
          {.kind = View::Kind::tmpfs, .target = "/dev"},
          {.kind = View::Kind::device, .target = "/dev/null", .source = "/dev/null"},
          {.kind = View::Kind::proc, .target = "/proc"},
          {.kind = View::Kind::file, .target = "/etc/passwd", .content = "x"},
          {.target = "/home/me/in", .source = "/home/me/in", .granted = true},
          {.target = "/shown", .source = "/home/me/other", .granted = true},
          {.target = "/home/me/out", .source = "/home/me/out", .writable = true, .granted = true}}};
  return kAround;
}

// A host with these files, by their real paths.
HostLookup host(std::map<std::string, std::string> files, bool world_readable = true) {
  return [files = std::move(files), world_readable](const std::string& path) -> HostFile {
    const auto found = files.find(path);
    if (found == files.end()) return {};
    return {.exists = true,
            .path = found->second.empty() ? path : found->second,
            .world_readable = world_readable};
  };
}

PathAttempt absent(std::string path, Use use, InsideFile parent = {.state = State::absent}) {
  return {.path = std::move(path),
          .use = use,
          .inside = {.state = State::absent},
          .parent = std::move(parent)};
}

PathAttempt present(const std::string& path, Use use) {
  return {.path = path,
          .use = use,
          .inside = {.state = State::present, .path = path},
          .parent = {.state = State::present, .path = parent_of(path)}};
}

InsideFile there(std::string path) { return {.state = State::present, .path = std::move(path)}; }

TEST(ExplainJudgeTest, HiddenFileOfTheHostIsDenied) {
  const auto denial =
      judge(absent("/home/me/notes", Use::read), around(), host({{"/home/me/notes", ""}}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(*denial,
            (Denial{.kind = Denial::Kind::path,
                    .what = "/home/me/notes",
                    .access = "read",
                    .allow = "--read /home/me/notes",
                    .grant = Grant::bind("/home/me/notes", "/home/me/notes", Grant::Kind::read)}));
}

TEST(ExplainJudgeTest, FileMissingOnTheHostIsNotDenied) {
  for (const Use use : {Use::look, Use::read, Use::execute, Use::write, Use::create, Use::remove}) {
    EXPECT_FALSE(judge(absent("/home/me/missing/x", use), around(), host({})));
  }
}

TEST(ExplainJudgeTest, VisibleFileMayBeReadAndExecuted) {
  for (const Use use : {Use::look, Use::read, Use::execute}) {
    EXPECT_FALSE(judge(present("/usr/bin/sh", use), around(), host({{"/usr/bin/sh", ""}})));
  }
}

TEST(ExplainJudgeTest, WhatCannotBeToldIsNotDenied) {
  PathAttempt attempt = absent("/home/me/notes", Use::read);
  for (const Use use : {Use::look, Use::read, Use::execute, Use::write, Use::create, Use::make,
                        Use::make_directory, Use::replace, Use::remove}) {
    attempt.use = use;
    attempt.inside.state = State::unknown;
    EXPECT_FALSE(judge(attempt, around(), host({{"/home/me/notes", ""}, {"/home/me", ""}})));
  }
}

TEST(ExplainJudgeTest, HiddenProgramIsDenied) {
  const auto denial = judge(absent("/opt/tool", Use::execute), around(), host({{"/opt/tool", ""}}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->kind, Denial::Kind::exec);
  EXPECT_EQ(denial->access, "execute");
  EXPECT_EQ(denial->allow, "--read /opt/tool");
}

TEST(ExplainJudgeTest, WritingToAReadOnlyGrantNamesTheGrantToWrite) {
  const auto denial = judge(present("/home/me/in/file", Use::write), around(), host({}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->access, "write");
  EXPECT_EQ(denial->allow, "--write /home/me/in/file");
  const auto elsewhere = judge(present("/shown/file", Use::write), around(), host({}));
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->allow, "--bind /home/me/other/file:/shown/file");
}

TEST(ExplainJudgeTest, WritingWhereItIsAllowedIsNotDenied) {
  for (const Use use : {Use::write, Use::create, Use::replace, Use::remove}) {
    EXPECT_FALSE(judge(present("/home/me/out/file", use), around(), host({})));
    EXPECT_FALSE(judge(present("/tmp/file", use), around(), host({{"/tmp/file", ""}})));
  }
  for (const Use use : {Use::create, Use::make, Use::make_directory, Use::replace}) {
    EXPECT_FALSE(judge(absent("/tmp/new", use, there("/tmp")), around(), host({{"/tmp/new", ""}})));
  }
}

TEST(ExplainJudgeTest, MakingSomethingNamesItsDirectory) {
  const auto denial =
      judge(absent("/home/me/in/new", Use::create, there("/home/me/in")), around(), host({}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->what, "/home/me/in/new");
  EXPECT_EQ(denial->allow, "--write /home/me/in");
  const auto hidden =
      judge(absent("/home/me/b/new", Use::create), around(), host({{"/home/me/b", ""}}));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->allow, "--write /home/me/b");
}

TEST(ExplainJudgeTest, MakingADirectoryThatIsThereIsNotDenied) {
  EXPECT_FALSE(judge(present("/usr/share", Use::make_directory), around(), host({})));
}

TEST(ExplainJudgeTest, NewDirectoryInTheRootCanBeInMemory) {
  const auto denial =
      judge(absent("/scratch", Use::make_directory, there("/")), around(), host({}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->allow, "--tmpfs /scratch");
}

TEST(ExplainJudgeTest, RemovingFromAReadOnlyPlaceIsDenied) {
  const auto denial = judge(present("/home/me/in/file", Use::remove), around(), host({}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->what, "/home/me/in/file");
  EXPECT_EQ(denial->allow, "--write /home/me/in");
}

TEST(ExplainJudgeTest, SystemDirectoriesAreNeverWritable) {
  const auto denial = judge(present("/usr/bin/sh", Use::write), around(), host({}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->allow, "");
  EXPECT_EQ(denial->reason, "system directories are never writable");
}

TEST(ExplainJudgeTest, WhatIsMadeForTheSandboxHasNoOption) {
  for (const PathAttempt& attempt :
       {present("/etc/passwd", Use::write), present("/home", Use::write),
        absent("/dev/sda", Use::create, there("/dev"))}) {
    const auto denial = judge(attempt, around(), host({}));
    ASSERT_TRUE(denial) << attempt.path;
    EXPECT_EQ(denial->allow, "");
    EXPECT_EQ(denial->reason, "this place is made for the sandbox");
  }
}

TEST(ExplainJudgeTest, SysAndDevOfTheHostHaveNoOption) {
  const auto device = judge(absent("/dev/sda", Use::read), around(), host({{"/dev/sda", ""}}));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->allow, "");
  EXPECT_EQ(device->reason, "/dev is the sandbox's own, never the host's");
  const auto sys = judge(absent("/sys/kernel", Use::read), around(), host({{"/sys/kernel", ""}}));
  ASSERT_TRUE(sys);
  EXPECT_EQ(sys->reason, "/sys of the host is never shown to a sandbox");
}

TEST(ExplainJudgeTest, ProcIsNeverReported) {
  EXPECT_FALSE(judge(absent("/proc/77/environ", Use::read), around(),
                     host({{"/proc/77/environ", ""}, {"/proc/77", ""}})));
  EXPECT_FALSE(judge(present("/proc/sys/kernel/core_pattern", Use::write), around(), host({})));
  EXPECT_FALSE(judge(present("/dev/null", Use::write), around(), host({})));
}

TEST(ExplainJudgeTest, LinkOutOfAGrantNamesWhatItLeadsTo) {
  const auto denial = judge(absent("/home/me/in/link", Use::read), around(),
                            host({{"/home/me/in/link", "/home/me/secret"}}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->what, "/home/me/in/link");
  EXPECT_EQ(denial->allow, "--read /home/me/secret");
  // It was made on the host just now.
  EXPECT_FALSE(
      judge(absent("/home/me/in/new", Use::read), around(), host({{"/home/me/in/new", ""}})));
}

TEST(ExplainJudgeTest, PermissionsThatHoldBesidesAreMentioned) {
  const auto denial =
      judge(absent("/etc/shadow", Use::read), around(), host({{"/etc/shadow", ""}}, false));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->allow, "--read /etc/shadow");
  EXPECT_EQ(denial->reason, "its own permissions hold, too");
}

TEST(ExplainJudgeTest, PathsAreNamedPlainly) {
  const auto denial = judge(absent("/home/me/in/../it's//./x", Use::read), around(),
                            host({{"/home/me/it's/x", ""}}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->what, "/home/me/it's/x");
  EXPECT_EQ(denial->allow, R"(--read '/home/me/it'\''s/x')");
  EXPECT_EQ(lexically_normal("/../.."), "/");
  EXPECT_EQ(lexically_normal("/a/../../b/."), "/b");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/a/b"), "/a");
}

SocketAttempt to(std::string address, bool loopback, int family = AF_INET) {
  return {.family = family, .address = std::move(address), .loopback = loopback};
}

TEST(ExplainJudgeTest, AddressesAreJudgedByTheNetwork) {
  Surroundings place = around();
  const auto far = judge(to("192.0.2.1:80", false), place, host({}));
  ASSERT_TRUE(far);
  EXPECT_EQ(far->kind, Denial::Kind::connect);
  EXPECT_EQ(far->what, "192.0.2.1:80");
  EXPECT_EQ(far->allow, "--net host");
  const auto near = judge(to("[::1]:80", true, AF_INET6), place, host({}));
  ASSERT_TRUE(near);
  EXPECT_EQ(near->allow, "--net loopback");
  place.network = Network::loopback;
  EXPECT_TRUE(judge(to("192.0.2.1:80", false), place, host({})));
  EXPECT_FALSE(judge(to("127.0.0.1:80", true), place, host({})));
  place.network = Network::host;
  EXPECT_FALSE(judge(to("192.0.2.1:80", false), place, host({})));
}

TEST(ExplainJudgeTest, SocketsOfTheHostHaveAnOptionOnlyWhereAGrantOpensThem) {
  Surroundings place = around();
  SocketAttempt attempt = to("/run/bus", false, AF_UNIX);
  attempt.inside.state = State::absent;
  const auto denial = judge(attempt, place, host({{"/run/bus", ""}}));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->allow, "--read /run/bus");
  EXPECT_FALSE(judge(attempt, place, host({})));
  place.landlock_abi = 9;
  const auto fenced = judge(attempt, place, host({{"/run/bus", ""}}));
  ASSERT_TRUE(fenced);
  EXPECT_EQ(fenced->allow, "");
  EXPECT_EQ(fenced->reason, "no sandbox reaches a socket of the host");
}

}  // namespace
}  // namespace cordon::linux_backend
