#include "json_text.h"

#include <boost/json/serialize.hpp>

#include "base/utf8.h"

namespace cordon::app {

std::string json_text(std::string_view text) {
  if (base::is_utf8(text)) return boost::json::serialize(text);
  return boost::json::serialize(base::to_utf8(text));
}

std::string json_text_or_null(std::string_view text) {
  return text.empty() ? "null" : json_text(text);
}

}  // namespace cordon::app
