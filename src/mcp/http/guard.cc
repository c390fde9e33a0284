#include "mcp/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "mcp/http/text.h"

namespace cordon::mcp {
namespace {

bool starts_with_folded(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && lower_case(text.substr(0, start.size())) == start;
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// What is behind "http://" or "https://", if it is that.
std::optional<std::string_view> behind_scheme(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (starts_with_folded(text, scheme)) return text.substr(scheme.size());
  }
  return std::nullopt;
}

// Takes the same time whatever the two have in common.
bool same(const base::Digest& one, const base::Digest& other) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned>(one[i] ^ other[i]);
  return difference == 0;
}

std::optional<HttpRefusal> foreign_host(std::string_view why) {
  return HttpRefusal{
      403, std::string(why) + " is not one that this server is called by: see --allow-host"};
}

}  // namespace

std::optional<Authority> read_authority(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    in6_addr address{};
    if (::inet_pton(AF_INET6, std::string(text.substr(1, end - 1)).c_str(), &address) != 1) {
      return std::nullopt;
    }
    authority.host = lower_case(text.substr(0, end + 1));
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    authority.host = lower_case(text.substr(0, end));
    if (authority.host.empty() || !std::ranges::all_of(authority.host, is_host_character)) {
      return std::nullopt;
    }
    rest = text.substr(end);
  }
  if (rest.empty()) return authority;
  authority.port = read_port(rest.substr(1));
  if (rest.front() != ':' || !authority.port) return std::nullopt;
  return authority;
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) {
    in6_addr address{};
    const std::string text(host.substr(1, host.size() - 2));
    return ::inet_pton(AF_INET6, text.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
  }
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24) == 127;
}

HttpGuard::HttpGuard(std::vector<std::string> hosts, std::vector<std::string> origins,
                     std::string_view token)
    : hosts_(std::move(hosts)), origins_(std::move(origins)) {
  for (std::string& host : hosts_) host = lower_case(host);
  for (std::string& origin : origins_) origin = lower_case(origin);
  if (!token.empty()) token_ = base::sha256(token);
}

bool HttpGuard::host_allowed(std::string_view authority) const {
  const auto read = read_authority(authority);
  if (!read) return false;
  if (is_loopback(read->host)) return true;
  const std::string whole = lower_case(authority);
  return std::ranges::any_of(hosts_, [&](const std::string& allowed) {
    return allowed == read->host || allowed == whole;
  });
}

bool HttpGuard::origin_allowed(std::string_view origin) const {
  if (std::ranges::find(origins_, lower_case(origin)) != origins_.end()) return true;
  const auto rest = behind_scheme(origin);
  const auto authority = rest ? read_authority(*rest) : std::nullopt;
  return authority && is_loopback(authority->host);
}

std::optional<HttpRefusal> HttpGuard::foreign(const HttpHead& head) const {
  if (head.count("host") > 1 || head.count("origin") > 1) {
    return HttpRefusal{400, "Host or Origin is there twice"};
  }
  const auto host = head.field("host");
  if (!host && head.http_1_1) return HttpRefusal{400, "there is no Host"};
  if (!host || !host_allowed(*host)) return foreign_host("the Host");
  // The name in the target goes before that in Host (RFC 9112, 3.2.2), so both have to be ours.
  if (const auto rest = behind_scheme(head.target)) {
    if (!host_allowed(rest->substr(0, rest->find_first_of("/?#")))) {
      return foreign_host("the host of the target");
    }
  }
  const auto origin = head.field("origin");
  if (origin && !origin_allowed(*origin)) {
    return HttpRefusal{403, "pages of this Origin may not ask here: see --allow-origin"};
  }
  return std::nullopt;
}

std::optional<HttpRefusal> HttpGuard::unknown(const HttpHead& head) const {
  if (!token_) return std::nullopt;
  constexpr std::string_view kScheme = "bearer ";
  const auto given = head.field("authorization");
  if (given && head.count("authorization") == 1 && starts_with_folded(*given, kScheme)) {
    std::string_view token = given->substr(kScheme.size());
    while (token.starts_with(' ')) token.remove_prefix(1);
    if (same(base::sha256(token), *token_)) return std::nullopt;
    return HttpRefusal{401,
                       "this is not the token",
                       {{"WWW-Authenticate", R"(Bearer realm="cordon", error="invalid_token")"}}};
  }
  return HttpRefusal{401,
                     "this server asks for a token: Authorization: Bearer TOKEN",
                     {{"WWW-Authenticate", R"(Bearer realm="cordon")"}}};
}

std::optional<std::string> HttpGuard::reader(const HttpHead& head) const {
  const auto origin = head.field("origin");
  if (!origin || std::ranges::find(origins_, lower_case(*origin)) == origins_.end())
    return std::nullopt;
  return std::string(*origin);
}

}  // namespace cordon::mcp
