#include "backend/linux/held_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;

class HeldFilesTest : public testing::Test {
 protected:
  HeldFilesTest() {
    char name[] = "/tmp/cordon-held-XXXXXX";
    folder_ = ::mkdtemp(name);
    dir_ = base::Fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~HeldFilesTest() override { fs::remove_all(folder_); }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  fs::path folder_;
  base::Fd dir_;
  HeldFiles files_;
};

TEST_F(HeldFilesTest, WhatIsHeldIsReadAnewEachTime) {
  write("peak", "1\n");
  files_.hold(dir_.get(), "peak");
  EXPECT_EQ(files_.read(dir_.get(), "peak"), "1\n");
  write("peak", "22\n");
  EXPECT_EQ(files_.read(dir_.get(), "peak"), "22\n");
}

TEST_F(HeldFilesTest, WhatIsNotHeldIsReadByItsName) {
  write("current", "3\n");
  EXPECT_EQ(files_.read(dir_.get(), "current"), "3\n");
  EXPECT_EQ(files_.read(dir_.get(), "absent"), std::nullopt);
  files_.hold(dir_.get(), "absent");
  write("absent", "4\n");
  EXPECT_EQ(files_.read(dir_.get(), "absent"), "4\n");
}

TEST_F(HeldFilesTest, LongTextsAreWhole) {
  const std::string text(10'000, 'x');
  write("stat", text);
  files_.hold(dir_.get(), "stat");
  EXPECT_EQ(files_.read(dir_.get(), "stat"), text);
}

}  // namespace
}  // namespace cordon::linux_backend
