// Files into and out of a sandbox; and that nobody inside decides where they go.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "image/tar.h"
#include "sandbox_fixture.h"
#include "sandbox_unpack.h"

namespace cordon::cli {
namespace {

using app::sandbox::Unpacker;
using image::TarEntry;
using testing::HasSubstr;

namespace fs = std::filesystem;

class SandboxCopy : public SandboxTest {};

TEST_F(SandboxCopy, ComesBackAsItWas) {
  const std::string tree = path("tree");
  fs::create_directories(tree + "/sub/empty");
  std::ofstream(tree + "/a") << "content";
  std::string large(3'000'000, '\0');
  std::mt19937 random(1);
  for (char& c : large) c = static_cast<char>(random());
  std::ofstream(tree + "/sub/large", std::ios::binary) << large;
  std::ofstream(tree + "/sub/" + std::string(200, 'n')) << "long";
  fs::permissions(tree + "/a", fs::perms::owner_all);
  fs::create_symlink("/etc/passwd", tree + "/link");
  fs::create_hard_link(tree + "/a", tree + "/hard");
  ASSERT_EQ(::mkfifo((tree + "/pipe").c_str(), 0600), 0);

  create("sleep 1000");
  const Ended in = sandbox({"cp", tree, "box:/tmp"});
  EXPECT_EQ(in.status, 0) << in.err;
  EXPECT_THAT(in.err, HasSubstr("1 devices, sockets or pipes"));
  EXPECT_EQ(exec("cat /tmp/tree/a; readlink /tmp/tree/link").out, "content/etc/passwd\n");
  const Ended out = sandbox({"cp", "box:/tmp/tree", path("back")});
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(read_file(path("back/a")), "content");
  EXPECT_EQ(read_file(path("back/hard")), "content");
  EXPECT_EQ(read_file(path("back/sub/large")), large);
  EXPECT_EQ(read_file(path("back/sub/") + std::string(200, 'n')), "long");
  EXPECT_EQ(fs::read_symlink(path("back/link")), "/etc/passwd");
  EXPECT_TRUE(fs::is_directory(path("back/sub/empty")));
  EXPECT_EQ(fs::status(path("back/a")).permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
}

TEST_F(SandboxCopy, GoesIntoADirectoryOrTakesANewName) {
  create("sleep 1000");
  const std::string one = file("one", "1");
  ASSERT_EQ(exec("mkdir /tmp/dir").status, 0);
  EXPECT_EQ(sandbox({"cp", one, "box:/tmp/dir"}).status, 0);
  EXPECT_EQ(sandbox({"cp", one, "box:/tmp/two"}).status, 0);
  EXPECT_EQ(exec("cat /tmp/dir/one /tmp/two").out, "11");
  fs::create_directory(path("here"));
  EXPECT_EQ(sandbox({"cp", "box:/tmp/two", path("here")}).status, 0);
  EXPECT_EQ(read_file(path("here/two")), "1");
}

TEST_F(SandboxCopy, ReplacesNothing) {
  create("sleep 1000");
  const std::string one = file("one", "1");
  ASSERT_EQ(exec("echo other > /tmp/one").status, 0);
  EXPECT_NE(sandbox({"cp", one, "box:/tmp/one"}).status, 0);
  EXPECT_EQ(exec("cat /tmp/one").out, "other\n");
  const Ended refused = sandbox({"cp", "box:/tmp/one", one});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("File exists"));
  EXPECT_EQ(read_file(one), "1");
}

TEST_F(SandboxCopy, RefusesWhatIsNoPlace) {
  create("sleep 1000");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"cp", "a", "b"},
                                                    {"cp", "box:/a", "box:/b"},
                                                    {"cp", "box:/a"},
                                                    {"cp", "box:", "x"},
                                                    {"cp", "Box:/a", "x"},
                                                    {"cp", "box:/", path("x")}}) {
    EXPECT_EQ(sandbox(arguments).status, 125);
  }
  EXPECT_EQ(sandbox({"cp", "none:/a", path("x")}).status, 1);
  EXPECT_THAT(sandbox({"cp", "box:/no/such", path("x")}).err, HasSubstr("in the sandbox: "));
  EXPECT_THAT(sandbox({"cp", path("no-such"), "box:/tmp"}).err, HasSubstr("No such file"));
}

// What a `tar` of somebody hostile could send.
class HostileArchive : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(::mkdir(path("into").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir(path("outside").c_str(), 0700), 0);
  }
  [[nodiscard]] Result<void> unpack(const std::vector<TarEntry>& entries) const {
    Unpacker unpacker(base::Fd(::open(path("into").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                      path("into"), "top", "top");
    std::string archive;
    for (const TarEntry& entry : entries) {
      archive += image::tar_header(entry);
      archive += std::string(entry.size, 'x') + image::tar_padding(entry.size);
    }
    archive += image::tar_end();
    // In pieces of any size.
    for (std::size_t at = 0; at < archive.size(); at += 333) {
      if (auto fed = unpacker.feed(std::string_view(archive).substr(at, 333)); !fed) return fed;
    }
    return unpacker.finish();
  }
  static TarEntry a_file(std::string where) { return {.path = std::move(where), .size = 3}; }
  static TarEntry a_link(std::string where, std::string target) {
    return {.type = TarEntry::Type::link, .path = std::move(where), .target = std::move(target)};
  }
  static TarEntry a_directory(std::string where) {
    return {.type = TarEntry::Type::directory, .path = std::move(where), .mode = 0755};
  }
};

TEST_F(HostileArchive, IsTakenWhenItIsAsAskedFor) {
  const auto taken = unpack({a_directory("top"), a_file("top/a"), a_link("top/l", "../../../etc")});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(read_file(path("into/top/a")), "xxx");
}

TEST_F(HostileArchive, CannotWriteOutside) {
  const std::string outside = path("outside");
  const std::vector<std::vector<TarEntry>> attacks = {
      {a_file(outside + "/absolute")},
      {a_file("../outside/dots")},
      {a_directory("top"), a_file("top/../../outside/dots")},
      {a_file("other")},
      {a_file("")},
      {a_file(".")},
      {a_link("top", outside), a_file("top/through")},
      {a_directory("top"), a_link("top/l", "../../outside"), a_file("top/l/through")},
      {a_directory("top"), a_link("top/l", outside + "/made"), a_file("top/l")},
      {a_link("top", outside), a_directory("top/made")},
  };
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    EXPECT_FALSE(unpack(attacks[i])) << i;
    EXPECT_TRUE(fs::is_empty(outside)) << i;
    fs::remove_all(path("into/top"));
    EXPECT_TRUE(fs::is_empty(path("into"))) << i;
  }
}

TEST_F(HostileArchive, OfNoiseOrCutShortIsRefused) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    Unpacker unpacker(base::Fd(::open(path("into").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                      path("into"), "top", "top");
    std::string noise = image::tar_header(a_file("top"));
    noise[random() % noise.size()] = static_cast<char>(random());
    for (std::size_t n = random() % 4000; n > 0; --n) noise += static_cast<char>(random());
    const auto fed = unpacker.feed(noise);
    EXPECT_FALSE(fed && unpacker.finish());
    fs::remove_all(path("into/top"));
  }
}

}  // namespace
}  // namespace cordon::cli
