// One connection of the HTTP front: requests in, one after the other, and their answers out.
//
// It costs next to nothing while it is silent: what it reads is read into a buffer of all
// connections, and what it writes is kept only as long as the client has not taken it.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/clock.h"
#include "mcp/exchange.h"
#include "mcp/http/message.h"
#include "mcp/http/parser.h"
#include "mcp/http/text.h"

namespace cordon::mcp {

class HttpService;

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // `service` outlives it. `peer`: whose requests are counted together.
  HttpConnection(HttpService& service, Socket socket, std::string peer);

  void begin();
  // There is no room for it: says so and ends.
  void turn_away();
  // Looks at what has taken too long.
  void tick(TimePoint now);
  // As soon as the answer that it owes is sent.
  void wind_up();
  // At once. Whoever was to answer hears of it.
  void end();

  // Of the exchange of this number, by its Reply; ignored when that is over.
  void answer(std::uint64_t exchange, const Answer& answer);
  void begin_stream(std::uint64_t exchange, const Headers& headers);
  void send(std::uint64_t exchange, const StreamEvent& event);
  void end_stream(std::uint64_t exchange);
  void abandon(std::uint64_t exchange);  // nobody will answer
  [[nodiscard]] std::size_t pending(std::uint64_t exchange) const;
  void when_drained(std::uint64_t exchange, std::function<void()> call);
  void when_gone(std::uint64_t exchange, std::function<void()> call);

 private:
  enum class Phase : std::uint8_t {
    head,       // a request is on its way or awaited
    body,       // its head is accepted
    handling,   // it is the handler's
    streaming,  // and answered by a stream
    finishing,  // the answer is complete, and not yet sent
    lingering,  // the last answer is sent: what still comes is dropped
    closed,
  };

  [[nodiscard]] bool current(std::uint64_t exchange) const;
  [[nodiscard]] bool owes_answer() const;
  [[nodiscard]] HttpManner manner();

  void await_input();
  void await_error();
  void on_input();
  void on_end_of_input();
  void take(std::string_view bytes);
  [[nodiscard]] std::size_t parse(std::string_view bytes);
  void parse_kept();
  void start_request();
  // Whether the request may go on to its body.
  [[nodiscard]] bool check_head();
  void refuse(const HttpRefusal& refusal);
  void hand_over();
  void drop_request();

  void write(std::string_view bytes);
  void write_event(std::string_view bytes);
  void flush_soon();
  void write_now();
  void flush();
  void finish();  // the answer is complete
  void on_flushed();
  void next_request();
  void linger();

  HttpService& service_;
  Socket socket_;
  std::string peer_;
  Phase phase_ = Phase::head;
  bool reading_ = false;
  bool watching_error_ = false;
  bool writing_ = false;       // waits for the client to take more
  bool flush_posted_ = false;  // will be written when the loop comes to it
  bool input_ended_ = false;   // the client has closed its side, or all of it
  bool close_after_ = false;   // this answer is the last

  std::unique_ptr<HttpParser> parser_;  // while a request comes in
  std::string input_;                   // what came and is not yet taken
  Ask ask_;                             // of the request whose body comes in
  std::size_t counted_ = 0;             // in HttpService::bodies
  std::uint64_t exchange_ = 0;          // of the request that is handled; never twice the same
  bool http_1_1_ = true;
  bool head_only_ = false;
  std::optional<std::string> reader_;

  std::string output_;
  std::size_t written_ = 0;  // of it
  std::size_t dropped_ = 0;  // while lingering
  std::function<void()> drained_;
  std::function<void()> gone_;

  std::optional<TimePoint> deadline_;  // for what is awaited from the client
  TimePoint progress_{};               // when something was last written
};

}  // namespace cordon::mcp
