// What tests of the log share: a directory of their own, and ways to spoil what is in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "audit/directory.h"
#include "audit/log.h"
#include "audit/verify.h"

namespace cordon::audit {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "cordon-audit-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    settings_.directory = top_ / "log";
  }
  void TearDown() override { std::filesystem::remove_all(top_); }

  [[nodiscard]] const std::filesystem::path& top() const { return top_; }
  [[nodiscard]] std::string path(const std::string& name) const {
    return settings_.directory + "/" + name;
  }
  [[nodiscard]] Settings& settings() { return settings_; }

  [[nodiscard]] std::unique_ptr<Log> open_log() {
    auto log = Log::open(settings_, real_clock());
    EXPECT_TRUE(log) << log.error().message;
    return log ? *std::move(log) : nullptr;
  }
  [[nodiscard]] static Result<std::uint64_t> append(Log& log, const std::string& detail) {
    const Entry entry{.operation = Operation::start, .run = "r", .program = "p", .detail = detail};
    return log.append({&entry, 1});
  }
  // A log of so many records.
  void make_log(int records) {
    const auto log = open_log();
    ASSERT_TRUE(log);
    for (int i = 0; i < records; ++i) ASSERT_TRUE(append(*log, "record " + std::to_string(i)));
  }

  [[nodiscard]] static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  static void add(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::app) << text;
  }
  [[nodiscard]] static std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> all;
    std::istringstream text(read(file));
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  static void write_lines(const std::string& file, const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) text += line + '\n';
    write(file, text);
  }

  [[nodiscard]] Verification verified(const Sealer& sealer = Sealer()) const {
    auto result = verify(settings_.directory, sealer);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : Verification{};
  }
  // All that is wrong, a line for each; empty: nothing.
  [[nodiscard]] std::string wrong(const Sealer& sealer = Sealer()) const {
    std::string text;
    for (const Defect& defect : verified(sealer).defects) {
      text += defect.file + ":" + std::to_string(defect.line) + ": " + defect.what + "\n";
    }
    return text;
  }
  [[nodiscard]] std::string key_file() const {
    const std::string file = top_ / "key";
    write(file, std::string(32, 'k'));
    ::chmod(file.c_str(), 0600);
    return file;
  }

 private:
  std::filesystem::path top_;
  Settings settings_;
};

}  // namespace cordon::audit
