// What the tests of `cordon batch` have in common: requests that wait for each other through files
// in a directory that they may write to.
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fixture.h"
#include "support/eventually.h"

namespace cordon::cli {

using support::eventually;

class BatchTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::filesystem::create_directory(directory() / "shared");
  }

  // `arguments` after "batch" and the options that all tests need.
  [[nodiscard]] Command batch(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"batch", "--write", path("shared"), "--cwd", "/usr"});
    return Command(std::move(arguments));
  }
  // A request that runs a script; $D is the directory that all of them share.
  [[nodiscard]] std::string shell(const std::string& script) const {
    boost::json::object request;
    request["argv"] = {"sh", "-c", "D=" + path("shared") + "; " + script};
    return boost::json::serialize(request) + "\n";
  }
  void touch(const std::string& name) const { std::ofstream(path("shared/" + name)).flush(); }

  [[nodiscard]] static std::vector<boost::json::value> values(const std::string& text) {
    std::vector<boost::json::value> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(parse(line));
    return all;
  }
  // One value of each result.
  [[nodiscard]] static std::vector<std::string> each(const std::string& text,
                                                     std::string_view pointer) {
    std::vector<std::string> all;
    for (const auto& value : values(text)) {
      boost::system::error_code error;
      const auto* const found = value.find_pointer(pointer, error);
      if (found == nullptr) {
        all.emplace_back("-");
      } else {
        all.push_back(found->is_string() ? std::string(found->as_string())
                                         : boost::json::serialize(*found));
      }
    }
    return all;
  }
  // What two runs of the same requests have in common, a line for each.
  [[nodiscard]] static std::vector<std::string> stable(const std::string& text) {
    std::vector<std::string> all;
    for (const auto& value : values(text)) {
      boost::json::object kept = value.as_object();
      if (const auto* const outcome = kept.if_contains("outcome")) {
        const boost::json::value verdict = outcome->at("verdict");
        const boost::json::value code = outcome->at("exit_code");
        kept["outcome"] = {verdict, code};
      }
      all.push_back(boost::json::serialize(kept));
    }
    return all;
  }
  [[nodiscard]] static std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
};

inline const std::string kUntilGo = "until test -e $D/go; do sleep 0.01; done; ";

}  // namespace cordon::cli
