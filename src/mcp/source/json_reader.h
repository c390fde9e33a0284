// Reading the JSON files that describe servers: strict, and every complaint names file and place.
// Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::mcp {

// An object, and where it is in its file: "server.mcp_config".
struct JsonAt {
  const boost::json::object* object = nullptr;
  std::string place{};
};

// The place of a member or an element.
[[nodiscard]] std::string place_of(const JsonAt& at, std::string_view key);

// Keeps the first thing that is wrong; getters give what is left of a wrong value, so that a reader
// can be written straight down and asks finish() in the end.
class JsonReader {
 public:
  JsonReader(std::string_view file, std::string_view stage) : file_(file), stage_(stage) {}

  // The one object that `text` is. No name may be in an object twice.
  [[nodiscard]] std::optional<JsonAt> whole(std::string_view text);

  [[nodiscard]] std::optional<std::string> text(const JsonAt& at, std::string_view key);
  // The same for one that has to be there and say something.
  [[nodiscard]] std::string required(const JsonAt& at, std::string_view key);
  [[nodiscard]] bool flag(const JsonAt& at, std::string_view key);
  [[nodiscard]] std::optional<double> number(const JsonAt& at, std::string_view key);
  [[nodiscard]] std::vector<std::string> texts(const JsonAt& at, std::string_view key);
  [[nodiscard]] std::optional<JsonAt> object(const JsonAt& at, std::string_view key);
  [[nodiscard]] std::vector<JsonAt> objects(const JsonAt& at, std::string_view key);
  // Members that are texts, in the file's order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> text_members(const JsonAt& at,
                                                                              std::string_view key);
  // A text, number or boolean, or a list of them, as texts; nothing if it is not there.
  [[nodiscard]] std::optional<std::vector<std::string>> scalars(const JsonAt& at,
                                                                std::string_view key);

  void wrong(std::string_view place, std::string_view what,
             ErrorCode code = ErrorCode::invalid_argument);
  [[nodiscard]] Result<void> finish() const;

 private:
  [[nodiscard]] std::optional<std::string> plain(const boost::json::value& value,
                                                 std::string_view place);

  std::string_view file_;
  std::string_view stage_;
  boost::json::value value_;
  std::optional<Error> error_;
};

}  // namespace cordon::mcp
