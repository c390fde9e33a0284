// One HTTP/1.x request out of the bytes of a connection. What two readers could understand in two
// ways (two lengths, a length and chunks, chunks in HTTP/1.0) is no request. Makes no system call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/http/message.h"

namespace cordon::mcp {

class HttpParser {
 public:
  enum class State : std::uint8_t {
    head,    // not all of it is there
    body,    // the head is known
    done,    // all of it
    failed,  // this is no request, and nothing behind it can be told apart: see fault()
  };

  HttpParser(std::size_t most_head, std::size_t most_body);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Takes what it can from the front of `bytes` and returns how much that is; at most to the end of
  // the head, or of the request. The rest has to come again, with more behind it.
  [[nodiscard]] std::size_t take(std::string_view bytes);

  [[nodiscard]] State state() const;
  [[nodiscard]] const HttpHead& head() const;
  [[nodiscard]] std::string& body();
  [[nodiscard]] const HttpRefusal& fault() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cordon::mcp
