// What every test of the command has: a directory of its own, and a look at what is left behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <filesystem>
#include <string>

#include "command.h"

namespace cordon::cli {

// Fails a test after which a process that the command started, or its zombie, is still there.
class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Made for this test, removed afterwards.
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  // Makes a file and returns its path.
  [[nodiscard]] std::string file(const std::string& name, const std::string& content,
                                 bool executable = false) const;

 private:
  std::filesystem::path directory_;
};

[[nodiscard]] std::string read_file(const std::string& path);
// The JSON value in `text`; null, and a failure of the test, when it is none.
[[nodiscard]] boost::json::value parse(const std::string& text);
// Prints the missing capability and skips, unless CORDON_MUST_WORK names `area`: then it fails.
#define CORDON_SKIP(area, what)                                                   \
  do {                                                                            \
    if (::cordon::cli::must_work(area)) FAIL() << "CORDON_MUST_WORK: " << (what); \
    GTEST_SKIP() << (what);                                                       \
  } while (false)
[[nodiscard]] bool must_work(std::string_view area);

}  // namespace cordon::cli
