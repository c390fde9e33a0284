#include "base/json_text.h"

#include <boost/json/serialize.hpp>

#include "base/utf8.h"

namespace cordon::base {

std::string json_text(std::string_view text) {
  if (is_utf8(text)) return boost::json::serialize(text);
  return boost::json::serialize(to_utf8(text));
}

std::string json_text_or_null(std::string_view text) {
  return text.empty() ? "null" : json_text(text);
}

std::string json_bool(bool value) { return value ? "true" : "false"; }

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  text_.append(text_.empty() ? "{\"" : ",\"").append(name).append("\":").append(value);
  return *this;
}

}  // namespace cordon::base
