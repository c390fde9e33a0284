#include "backend/gvisor/oci_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::gvisor_backend {
namespace {

namespace fs = std::filesystem;
using plan::View;
using testing::HasSubstr;

BundleView bind(std::string target, std::string source, bool writable = false) {
  return {{.kind = View::Kind::bind,
           .target = std::move(target),
           .source = std::move(source),
           .writable = writable},
          true};
}

Bundle example() {
  Bundle bundle;
  bundle.process = {.argv = {"sh", "-c", "echo \"hi\""},
                    .environment = {"A=b"},
                    .cwd = "/tmp",
                    .user = {7, 8},
                    .limits = {.file_size_bytes = 5, .open_files = 9}};
  bundle.views = {
      bind("/usr", "/usr"),
      bind("/data", "/srv/data", true),
      {{.kind = View::Kind::tmpfs, .target = "/tmp", .writable = true, .size = 4096, .mode = 01777},
       true},
      {{.kind = View::Kind::tmpfs, .target = "/dev", .size = 1}, true},
      {{.kind = View::Kind::symlink, .target = "/bin", .content = "usr/bin"}, true},
      {{.kind = View::Kind::file, .target = "/etc/passwd", .content = "me"}, true},
      {{.kind = View::Kind::proc, .target = "/proc"}, true}};
  bundle.filter = true;
  return bundle;
}

boost::json::value parsed(const std::string& text) { return boost::json::parse(text); }

TEST(BundleConfig, GivesTheProgramNothingMoreThanItsArguments) {
  const auto config = parsed(config_text(example()));
  const auto& process = config.at("process");
  EXPECT_EQ(process.at("args").as_array().at(2), "echo \"hi\"");
  EXPECT_EQ(process.at("user").at("uid"), 7);
  EXPECT_EQ(process.at("user").at("gid"), 8);
  EXPECT_EQ(process.at("noNewPrivileges"), true);
  for (const char* set : {"bounding", "effective", "inheritable", "permitted", "ambient"}) {
    EXPECT_TRUE(process.at("capabilities").at(set).as_array().empty()) << set;
  }
  EXPECT_EQ(config.at("root").at("readonly"), true);
}

TEST(BundleConfig, MountsWhatThePlanShows) {
  const auto config = parsed(config_text(example()));
  const auto& mounts = config.at("mounts").as_array();
  ASSERT_EQ(mounts.size(), 4U) << "no link, no made file, and /dev is gVisor's";
  EXPECT_EQ(mounts[0].at("options").as_array().at(1), "ro");
  EXPECT_EQ(mounts[1].at("source"), "/srv/data");
  EXPECT_EQ(mounts[1].at("options").as_array().at(1), "rw");
  EXPECT_EQ(mounts[2].at("options").as_array().at(3), "size=4096");
  EXPECT_EQ(mounts[2].at("options").as_array().at(4), "mode=01777");
  for (const auto& mount : mounts) {
    EXPECT_TRUE(testing::Value(boost::json::serialize(mount), HasSubstr("nosuid")));
  }
}

TEST(BundleConfig, HasTheLimitsOfAProcess) {
  const std::string text = process_text(example().process);
  EXPECT_THAT(text, HasSubstr(R"({"type":"RLIMIT_NOFILE","soft":9,"hard":9})"));
  EXPECT_THAT(text, HasSubstr(R"({"type":"RLIMIT_FSIZE","soft":5,"hard":5})"));
  EXPECT_THAT(text, HasSubstr(R"({"type":"RLIMIT_CORE","soft":0,"hard":0})"));
}

TEST(BundleConfig, RefusesSetuidModesOnlyWhereItCan) {
  Bundle bundle = example();
  EXPECT_TRUE(parsed(config_text(bundle)).at("linux").as_object().contains("seccomp"));
  bundle.filter = false;
  EXPECT_FALSE(parsed(config_text(bundle)).at("linux").as_object().contains("seccomp"));
}

TEST(BundlePlaces, NothingIsMadeOnTheHost) {
  std::vector<BundleView> views{bind("/usr", "/usr"), bind("/usr/bin", "/srv")};
  EXPECT_TRUE(check_places(views)) << "it is there";
  views.push_back(bind("/usr/no-such-place", "/srv"));
  const auto refused = check_places(views);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/usr/no-such-place"));
  EXPECT_FALSE(
      check_places({{{.kind = View::Kind::symlink, .target = "/var/tmp", .content = "/tmp"}, true},
                    bind("/var/tmp/x", "/srv")}));
}

TEST(BundleRoot, HasWhatTheSandboxMakes) {
  std::string name = (fs::temp_directory_path() / "cordon_bundle_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const mode_t before = ::umask(0077);
  const auto written = write_bundle(name, example());
  ::umask(before);
  ASSERT_TRUE(written) << written.error().message;
  const fs::path root = fs::path(name) / "rootfs";
  EXPECT_EQ(fs::read_symlink(root / "bin"), "usr/bin");
  EXPECT_TRUE(fs::is_directory(root / "data"));
  EXPECT_FALSE(fs::exists(root / "dev"));
  std::string content;
  std::ifstream(root / "etc/passwd") >> content;
  EXPECT_EQ(content, "me");
  struct stat info{};
  ASSERT_EQ(::stat((root / "etc").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0755U) << "whatever the caller's mask is";
  EXPECT_TRUE(fs::exists(fs::path(name) / "config.json"));
  fs::remove_all(name);
}

}  // namespace
}  // namespace cordon::gvisor_backend
