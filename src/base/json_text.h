// JSON that is written by hand, because the order of its names and the form of its numbers are a
// contract: outcomes, records, digests, what the command prints. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cordon::base {

// A text in quotes; what is not UTF-8 becomes U+FFFD. DEL and the C1 controls are left as they are:
// who shows the result on a terminal has to see to them.
[[nodiscard]] std::string json_text(std::string_view text);
// The same for a text whose being empty means that nothing is known.
[[nodiscard]] std::string json_text_or_null(std::string_view text);
[[nodiscard]] std::string json_bool(bool value);

// An object whose values are JSON already. Names are written as they are.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view value);
  [[nodiscard]] std::string str() const { return text_.empty() ? "{}" : text_ + '}'; }

 private:
  std::string text_;
};

}  // namespace cordon::base
