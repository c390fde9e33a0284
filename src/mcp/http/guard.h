// Who may ask at all: by the name under which the front was called (Host), by the web page that
// asks (Origin), and by the token, if there is one. A page of the web can make a browser send
// requests to 127.0.0.1, by its own name (DNS rebinding) or from its own origin: neither comes
// through. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "mcp/http/message.h"

namespace cordon::mcp {

class HttpGuard {
 public:
  // Besides those of this host: `hosts` ("name" with any port, "name:port"), `origins`
  // ("https://name:port"). An empty token: none is asked for.
  HttpGuard(std::vector<std::string> hosts, std::vector<std::string> origins,
            std::string_view token);

  // Whatever is asked for. Nothing: it is not foreign.
  [[nodiscard]] std::optional<HttpRefusal> foreign(const HttpHead& head) const;
  [[nodiscard]] std::optional<HttpRefusal> unknown(const HttpHead& head) const;
  // The Origin, if pages of it may read answers: one of `origins`.
  [[nodiscard]] std::optional<std::string> reader(const HttpHead& head) const;

 private:
  [[nodiscard]] bool host_allowed(std::string_view authority) const;
  [[nodiscard]] bool origin_allowed(std::string_view origin) const;

  std::vector<std::string> hosts_;
  std::vector<std::string> origins_;
  std::optional<base::Digest> token_;  // only its digest is kept
};

// "name", "1.2.3.4", "[::1]", each with ":port" or without.
struct Authority {
  std::string host{};  // lower case, brackets kept
  std::optional<std::uint16_t> port{};
};
// Nothing: it is none.
[[nodiscard]] std::optional<Authority> read_authority(std::string_view text);
[[nodiscard]] bool is_loopback(std::string_view host);

}  // namespace cordon::mcp
