// What a server or a client sends: a message or anything at all. What is taken for one is JSON in
// the eyes of Boost.JSON, which does not read it here; its parts are found where that finds them;
// and it goes on as it came.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mcp/message.h"

namespace {

namespace json = boost::json;
using namespace cordon;

void check(bool holds) {
  if (!holds) std::abort();
}

json::value read(std::string_view text) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 100;
  json::value value = json::parse(text, error, {}, options);
  check(!error);
  return value;
}

void check_part(const json::object& whole, std::string_view name, std::string_view text) {
  const json::value* const part = whole.if_contains(name);
  check((part == nullptr) == text.empty());
  if (part == nullptr) return;
  // As texts: what Boost makes of 0e999999 is equal to nothing, not even to itself.
  check(json::serialize(read(text)) == json::serialize(*part));
}

void check_message(const mcp::Message& message) {
  const json::value value = read(message.text());
  const json::object& whole = value.as_object();
  check_part(whole, "params", message.params());
  check_part(whole, "result", message.result());
  check_part(whole, "error", message.error());
  if (!message.method().empty()) {
    check(std::string_view(whole.at("method").as_string()) == message.method());
  }
  check(mcp::parse_one(message.text()).has_value());
  if (!message.id()) return;
  check(read(message.id()->json()) == whole.at("id"));
  check(message.with_id(*message.id()) == message.text());
  const auto other = mcp::parse_one(message.with_id(mcp::Id::number(-17)));
  check(other && other->id() == mcp::Id::number(-17) && other->params() == message.params());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed =
      mcp::parse(text, {.json = {.max_bytes = 4096, .max_depth = 16}, .max_batch = 4});
  if (!parsed) {
    check(mcp::parse_one(mcp::make_error(parsed.error())).has_value());
    return 0;
  }
  check(!parsed->messages.empty());
  for (const auto& message : parsed->messages) {
    if (message) check_message(*message);
    if (!message) check(mcp::parse_one(mcp::make_error(message.error())).has_value());
  }
  return 0;
}
