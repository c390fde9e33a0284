// --rootfs: directories and images, as a user types them.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "cordon/workdir.h"
#include "image/image.h"
#include "image/testing.h"
#include "sandbox_fixture.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;
namespace make = image::testing;
using image::testing::archive;
using image::testing::Layout;
using testing::HasSubstr;

constexpr const char* kShell = "/bin/busybox";

class RootfsOption : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (!fs::exists(kShell)) CORDON_SKIP("linux", "busybox-static is not installed");
    shell_ = image::testing::read(kShell);
    fs::create_directories(path("root/bin"));
    fs::copy_file(kShell, path("root/bin/busybox"));
    for (const char* const tool : {"sh", "cat", "ls", "pwd", "env", "sleep"}) {
      fs::create_symlink("busybox", path("root/bin/") + tool);
    }
  }
  void TearDown() override {
    for (const std::string& id : ids_) {
      const auto cache = default_cache();
      if (cache) fs::remove_all(*cache + "/images/sha256-" + id + ".image");
    }
    SandboxTest::TearDown();
  }
  // An image that nobody else has.
  [[nodiscard]] Layout image() const {
    Layout layout;
    layout.told = R"("Env":["PATH=/tools","WHO=image"],"Entrypoint":["sh","-c"],)"
                  R"("Cmd":["echo $WHO; pwd; cat /note"],"WorkingDir":"/work")";
    layout.layer(
        archive({make::file("tools/busybox", shell_, 0755), make::link("tools/sh", "busybox"),
                 make::link("tools/cat", "busybox"), make::link("tools/pwd", "busybox"),
                 make::file("note", "old\n"), make::file("gone", directory().string())}));
    layout.layer(archive({make::file("note", "new\n"), make::file(".wh.gone", ""),
                          make::file("work/x", "y")}),
                 true);
    layout.finish();
    return layout;
  }
  void remember(const std::string& where) {
    const auto opened = image::open_image(where, "");
    ASSERT_TRUE(opened) << opened.error().message;
    ids_.push_back(opened->id);
  }

  std::string shell_;
  std::vector<std::string> ids_;
};

TEST_F(RootfsOption, ADirectoryIsTheRoot) {
  const Ended ended = cordon({"run", "--rootfs", path("root"), "--env", "PATH=/bin", "--", "sh",
                              "-c", "pwd; ls /bin/sh /usr"});
  EXPECT_EQ(ended.out, "/\n/bin/sh\n") << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("/usr"));
}

TEST_F(RootfsOption, GrantsAreShownInIt) {
  const std::string text = file("data", "text\n");
  const Ended ended = cordon({"run", "--rootfs", path("root"), "--bind", text + ":/data:ro",
                              "--cwd", "/tmp", "--", "/bin/cat", "/data"});
  EXPECT_EQ(ended.out, "text\n") << ended.err;
}

TEST_F(RootfsOption, ThePlanTellsOfIt) {
  const Ended ended = cordon({"plan", "--rootfs", path("root"), "--", "/bin/sh"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(path("root") + ", read-only"));
  EXPECT_EQ(cordon({"plan", "--rootfs", path("root"), "--", "/usr/bin/env"}).status, 127);
}

TEST_F(RootfsOption, BadRootsAreRefused) {
  EXPECT_EQ(cordon({"run", "--rootfs", "/", "--", "sh"}).status, 125);
  EXPECT_EQ(cordon({"run", "--rootfs", path("absent"), "--", "sh"}).status, 125);
  EXPECT_EQ(cordon({"run", "--rootfs", path("absent.tar"), "--", "sh"}).status, 125);
  EXPECT_EQ(cordon({"run", "--rootfs", path("root/bin/sh"), "--", "sh"}).status, 125);
  EXPECT_EQ(cordon({"run", "--rootfs", "oci:" + path("root"), "--", "sh"}).status, 125);
  EXPECT_EQ(cordon({"run", "--rootfs", "", "--", "sh"}).status, 125);
  const Ended posix =
      cordon({"run", "--backend", "posix", "--rootfs", path("root"), "--", "/bin/sh"});
  EXPECT_EQ(posix.status, 125);
  EXPECT_THAT(posix.err, HasSubstr("root"));
}

TEST_F(RootfsOption, APolicySaysWhichAreAllowed) {
  const auto with = [&](const std::string& rules) {
    const std::string policy = file("policy.toml", rules);
    fs::permissions(policy, fs::perms::owner_read | fs::perms::owner_write);
    return cordon(
        {"run", "--policy", policy, "--rootfs", path("root"), "--", "/bin/sh", "-c", "echo ran"});
  };
  const std::string root = fs::canonical(path("root"));
  EXPECT_EQ(with("[paths]\nrootfs = [\"" + root + "\"]\n").out, "ran\n");
  EXPECT_EQ(with("[paths]\nread = [\"" + root + "\"]\n").out, "ran\n");
  const Ended none = with("[paths]\nrootfs = []\n");
  EXPECT_EQ(none.status, 126);
  EXPECT_THAT(none.err, HasSubstr("rootfs"));
  EXPECT_EQ(with("[paths]\nread = [\"/srv\"]\n").status, 126);
  EXPECT_EQ(with("[paths]\ndeny = [\"" + root + "/bin\"]\n").status, 126);
  const Ended programs = with("allowed_programs = [\"/bin/sh\"]\n");
  EXPECT_EQ(programs.status, 126);
  EXPECT_THAT(programs.err, HasSubstr("programs of its own"));
}

TEST_F(RootfsOption, ALayoutRunsAsItSays) {
  image().write(path("layout"));
  remember(path("layout"));
  const Ended ended = cordon({"run", "--rootfs", "oci:" + path("layout") + ":latest"});
  EXPECT_EQ(ended.out, "image\n/work\nnew\n") << ended.err;
  const Ended again = cordon({"run", "--rootfs", "oci:" + path("layout"), "--env", "WHO=me",
                              "--cwd", "/", "--", "sh", "-c", "echo $WHO; pwd; cat /gone"});
  EXPECT_EQ(again.out, "me\n/\n") << again.err;
}

TEST_F(RootfsOption, AnArchiveRunsAsItSays) {
  std::ofstream(path("image.tar"), std::ios::binary) << image().packed();
  remember(path("image.tar"));
  const Ended ended = cordon({"run", "--json", "--rootfs", path("image.tar")});
  EXPECT_EQ(parse(ended.out).at("stdout").as_string(), "image\n/work\nnew\n") << ended.err;
  const Ended other = cordon({"run", "--rootfs", path("image.tar"), "--", "absent"});
  EXPECT_EQ(other.status, 127) << other.err;
}

TEST_F(RootfsOption, AChangedImageDoesNotRun) {
  Layout layout = image();
  layout.files.front().second[100'000] ^= 1;
  layout.write(path("layout"));
  const Ended ended = cordon({"run", "--rootfs", "oci:" + path("layout")});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("digest"));
}

TEST_F(RootfsOption, ALongLivedSandboxHasIt) {
  image().write(path("layout"));
  remember(path("layout"));
  const Ended created = sandbox(
      {"create", "--rootfs", "oci:" + path("layout"), "box", "--", "busybox", "sleep", "1000"});
  ASSERT_EQ(created.status, 0) << created.err;
  const Ended inside = exec("echo $WHO; pwd; cat /note");
  EXPECT_EQ(inside.out, "image\n/work\nnew\n") << inside.err;
}

}  // namespace
}  // namespace cordon::cli
