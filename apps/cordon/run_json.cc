#include "run_json.h"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "concat.h"

namespace cordon::app {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0U);
    }
    text += kDigits[group >> 18 & 63];
    text += kDigits[group >> 12 & 63];
    text += bytes.size() > 1 ? kDigits[group >> 6 & 63] : '=';
    text += bytes.size() > 2 ? kDigits[group & 63] : '=';
  }
  return text;
}

std::string stream(std::string_view name, std::string_view bytes) {
  if (base::is_utf8(bytes)) return concat("\"", name, "\":", boost::json::serialize(bytes));
  return concat("\"", name, "_base64\":\"", base64(bytes), "\"");
}

}  // namespace

std::string streams_json(const Outcome& outcome) {
  return concat(stream("stdout", outcome.out), ",", stream("stderr", outcome.err));
}

std::string run_json(const Outcome& outcome) {
  return concat(R"({"schema":"cordon.run/1",)", streams_json(outcome), R"(,"outcome":)",
                to_json(outcome), "}\n");
}

}  // namespace cordon::app
