// One child for all sessions of a server that is declared safe for that. It is initialised once, by
// the first session's request; the others get the same answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mcp/bridge/channel.h"
#include "mcp/bridge/session.h"

namespace cordon::mcp {

class SharedChild : public std::enable_shared_from_this<SharedChild> {
 public:
  explicit SharedChild(std::shared_ptr<ChildLink> link);
  void open();

  [[nodiscard]] const std::shared_ptr<Channel>& channel() { return channel_; }
  [[nodiscard]] bool usable() const { return !over_; }
  // Calls with the server's result once it is known, or with nothing while nobody has asked for it:
  // then the one that is called asks, and says what came of it by begun().
  // `fail` instead: the child is no more.
  using Begin = std::function<void(const std::optional<std::string>& result)>;
  using Fail = std::function<void(const std::string& reason)>;
  void join(const std::shared_ptr<Session>& session, Begin begin, Fail fail);
  void begun(const std::string& result);
  void failed();
  void leave(const Session& session);
  [[nodiscard]] bool alone() const { return sessions_.empty() && waiting_.empty(); }
  void end();

 private:
  void from_server(const Message& message);
  void ended(const std::string& reason);
  [[nodiscard]] std::vector<std::shared_ptr<Session>> sessions() const;

  std::shared_ptr<Channel> channel_;
  std::vector<std::weak_ptr<Session>> sessions_;
  std::vector<std::pair<Begin, Fail>> waiting_;
  std::optional<std::string> result_;
  bool asking_ = false;
  bool over_ = false;
};

}  // namespace cordon::mcp
