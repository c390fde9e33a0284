// The requests that are on their way through one child, numbered anew: clients of one child may use
// the same ids and progress tokens. Finds for each of the child's messages the request that it
// belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/bridge/child_link.h"
#include "mcp/message.h"

namespace cordon::mcp {

struct Call {
  // As the server wrote it: the id is the channel's.
  std::function<void(const Message& answer)> answered{};
  // A notification that names this request, by its progress token or as its subscription; `text`
  // has the client's own token or id.
  std::function<void(const Message& message, std::string text)> related{};
  std::function<void(const std::string& reason)> lost{};  // the child is no more
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  struct Owner {
    // A request of the child's, or a notification that names no request of ours.
    std::function<void(const Message& message)> unrelated{};
    std::function<void(const std::string& reason)> ended{};
  };

  explicit Channel(std::shared_ptr<ChildLink> link) : link_(std::move(link)) {}
  // The child's messages are this channel's from now on.
  void open(Owner owner);

  // Sends the request under a number of the channel's own, which it returns.
  std::int64_t call(const Message& request, Call call);
  std::int64_t call(std::string_view method, std::string_view params, Call call);
  // Sends notifications/cancelled; an answer that comes all the same is dropped.
  void cancel(std::int64_t number, std::string_view reason);
  // The same without telling the child.
  void forget(std::int64_t number) { calls_.erase(number); }
  void send(std::string_view text) { link_->send(text); }

  [[nodiscard]] std::size_t in_flight() const { return calls_.size(); }
  // The one that is on its way, if it is one only.
  [[nodiscard]] std::optional<std::int64_t> only() const;
  [[nodiscard]] ChildLink& link() { return *link_; }
  // Whether the child speaks 2026-07-28 and nothing else, once that is known.
  [[nodiscard]] bool modern() const { return modern_; }
  void set_modern() { modern_ = true; }

 private:
  struct Sent {
    Call call;
    std::string id;     // of the client's, as JSON
    std::string token;  // … its progress token; empty: none
  };

  std::int64_t send_call(std::string_view text, std::int64_t number, Sent sent);
  void take(const Message& message);
  void take_answer(const Message& message);
  // Whether it named a request.
  [[nodiscard]] bool take_progress(const Message& message);
  [[nodiscard]] bool take_subscribed(const Message& message);
  void ended();

  std::shared_ptr<ChildLink> link_;
  Owner owner_;
  std::map<std::int64_t, Sent> calls_;
  std::int64_t last_ = 0;
  bool modern_ = false;
};

// "io.modelcontextprotocol/…"
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";

}  // namespace cordon::mcp
