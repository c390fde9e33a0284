// For tests: a directory of one's own, and files in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cordon::execution {

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = std::filesystem::temp_directory_path() / "cordon-execution-XXXXXX";
    folder_ = ::mkdtemp(name.data()) == nullptr ? "" : std::filesystem::canonical(name).string();
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Makes a file and returns its path.
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }

  std::string folder_;
};

}  // namespace cordon::execution
