// A request of 2026-07-28: what it has to say about itself, in its _meta and in its headers, and
// that both say the same. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/exchange.h"
#include "mcp/message.h"

namespace cordon::mcp {

// Whether this is of that era, rightly or not.
[[nodiscard]] bool is_modern(const Ask& ask, const Parsed& body);

struct Refusal {
  int status = 400;
  int code = kInvalidRequest;
  std::string message{};
  std::string data{};  // JSON; empty: none
};

// Nothing: all is well.
[[nodiscard]] std::optional<Refusal> check_modern(const Ask& ask, const Message& request);

// Of its _meta; nothing if it has none such.
[[nodiscard]] std::optional<std::string_view> request_meta(const Message& request,
                                                           std::string_view name);

// What a header says that may be in base64 ("=?base64?…?="). Nothing: that is broken.
[[nodiscard]] std::optional<std::string> decoded_header(std::string_view value);

// The arguments of tools that are to be in headers too (x-mcp-header), as the server's lists of its
// tools have said.
class HeaderParams {
 public:
  // A result of tools/list.
  void learn(std::string_view result);
  [[nodiscard]] std::optional<Refusal> check(const Ask& ask, const Message& call) const;

 private:
  struct Param {
    std::string header;             // lower case, with "mcp-param-"
    std::vector<std::string> path;  // below "arguments"
  };
  static void collect(std::string_view schema, std::vector<std::string>& path,
                      std::vector<Param>& found);

  std::map<std::string, std::vector<Param>, std::less<>> tools_;
};

}  // namespace cordon::mcp
