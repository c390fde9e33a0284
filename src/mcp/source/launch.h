// What a description of a server comes to once its settings are known: the program, its arguments
// and variables. Shared by the formats that leave something for the user to say. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::mcp {

// Something that the user may have to say.
struct Setting {
  enum class Kind : std::uint8_t { text, number, boolean, file, directory };
  std::string name{};
  Kind kind = Kind::text;
  std::string about{};  // for a person
  bool required = false;
  bool secret = false;
  bool multiple = false;  // a list of values
  std::optional<std::vector<std::string>> fallback{};
  std::vector<std::string> choices{};  // empty: any
  std::optional<double> min{};
  std::optional<double> max{};
};

// What the user has said.
struct Given {
  std::map<std::string, std::vector<std::string>> values{};  // --set
  std::set<std::string> secrets{};                           // names of --secret
};

// A value for each setting that has one. Secrets are not among them.
struct Settled {
  std::map<std::string, std::vector<std::string>> values{};
  std::set<std::string> said{};  // by the user, not by the file
};

// A variable that gets a secret.
struct SecretVariable {
  std::string variable{};
  std::string secret{};  // the name by which the user has given it
};

struct Launch {
  std::string name{};
  std::string version{};
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::vector<SecretVariable> secrets{};
  std::vector<std::string> paths{};  // files and directories that the user has named in settings
};

// `secret_by` gives further names under which a secret setting may have been given. Errors, with
// everything that is missing at once: invalid_argument. No message has a value of a secret.
[[nodiscard]] Result<Settled> settle(
    const std::vector<Setting>& settings, const Given& given, std::string_view file,
    const std::map<std::string, std::set<std::string>>& secret_by = {});

}  // namespace cordon::mcp
