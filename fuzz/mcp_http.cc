// The bytes of an HTTP connection: however they are cut into pieces, the requests in them are the
// same; nothing comes through that is not this host's or could be read in two ways.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/http/guard.h"
#include "mcp/http/parser.h"
#include "mcp/http/route.h"
#include "mcp/http/text.h"

namespace {

using namespace cordon;

constexpr std::size_t kMostHead = 1024;
constexpr std::size_t kMostBody = 512;

void check(bool holds) {
  if (!holds) std::abort();
}

class Server final : public mcp::Handler {
 public:
  [[nodiscard]] bool knows(std::string_view server) const override { return server == "a"; }
  void handle(mcp::Ask /*ask*/, std::shared_ptr<mcp::Reply> /*reply*/) override {}
};

void check_request(const mcp::HttpHead& head, const std::string& body) {
  static const mcp::HttpGuard kGuard({}, {}, "");
  static const Server kServer;
  check(body.size() <= kMostBody);
  check(head.count("content-length") + head.count("transfer-encoding") <= 1);
  check(!head.length || *head.length == body.size());
  check(!head.chunked || head.http_1_1);
  if (const auto refusal = kGuard.foreign(head)) {
    const std::string text = mcp::refusal_text(*refusal, {});
    check(text.starts_with("HTTP/1.1 40"));
    return;
  }
  const auto host = mcp::read_authority(*head.field("host"));
  check(host && mcp::is_loopback(host->host));
  const auto ask = mcp::route(head, kServer);
  if (!ask) {
    check(ask.error().status >= 400);
    return;
  }
  check(ask->server == "a");
  for (const auto& [name, value] : ask->headers) check(head.count(name) == 1);
}

// The bodies of the requests, and whether they ended in a fault.
std::vector<std::string> read_all(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> bodies;
  std::string kept;
  auto parser = std::make_unique<mcp::HttpParser>(kMostHead, kMostBody);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    kept += bytes.substr(at, piece);
    for (bool more = true; more && !kept.empty();) {
      const auto before = parser->state();
      const std::size_t taken = parser->take(kept);
      check(taken <= kept.size());
      kept.erase(0, taken);
      more = taken != 0 || parser->state() != before;
      if (parser->state() == mcp::HttpParser::State::failed) {
        check(parser->fault().status >= 400);
        bodies.emplace_back("failed");
        return bodies;
      }
      if (parser->state() == mcp::HttpParser::State::done) {
        check_request(parser->head(), parser->body());
        bodies.push_back(parser->head().target + " " + parser->body());
        parser = std::make_unique<mcp::HttpParser>(kMostHead, kMostBody);
      }
    }
  }
  return bodies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read_all(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto pieces = read_all(bytes, data[0] % 16U + 1);
  // A fault may be seen later, or before its time at a limit, but never between other requests.
  const auto same = std::ranges::mismatch(whole, pieces);
  const bool one_is_over = same.in1 == whole.end() || same.in2 == pieces.end() ||
                           *same.in1 == "failed" || *same.in2 == "failed";
  check(one_is_over);
  return 0;
}
