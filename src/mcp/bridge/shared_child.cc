#include "mcp/bridge/shared_child.h"

#include <algorithm>
#include <utility>

namespace cordon::mcp {

SharedChild::SharedChild(std::shared_ptr<ChildLink> link)
    : channel_(std::make_shared<Channel>(std::move(link))) {}

void SharedChild::open() {
  channel_->open({.unrelated =
                      [weak = weak_from_this()](const Message& message) {
                        if (const auto self = weak.lock()) self->from_server(message);
                      },
                  .ended =
                      [weak = weak_from_this()](const std::string& reason) {
                        if (const auto self = weak.lock()) self->ended(reason);
                      }});
}

void SharedChild::join(const std::shared_ptr<Session>& session, Begin begin, Fail fail) {
  sessions_.push_back(session);
  if (result_) return begin(result_);
  if (asking_) {
    waiting_.emplace_back(std::move(begin), std::move(fail));
    return;
  }
  asking_ = true;
  begin(std::nullopt);
}

void SharedChild::begun(const std::string& result) {
  if (!asking_ || result_) return;
  result_ = result;
  channel_->send(make_notification("notifications/initialized"));
  for (const auto& [begin, fail] : std::exchange(waiting_, {})) begin(result_);
}

void SharedChild::failed() {
  if (!asking_ || result_) return;
  // The next of those who wait asks again.
  if (waiting_.empty()) {
    asking_ = false;
    return;
  }
  const auto next = std::move(waiting_.front().first);
  waiting_.erase(waiting_.begin());
  next(std::nullopt);
}

void SharedChild::leave(const Session& session) {
  std::erase_if(sessions_, [&](const auto& weak) {
    const auto one = weak.lock();
    return !one || one.get() == &session;
  });
}

std::vector<std::shared_ptr<Session>> SharedChild::sessions() const {
  std::vector<std::shared_ptr<Session>> all;
  for (const auto& weak : sessions_) {
    if (auto one = weak.lock()) all.push_back(std::move(one));
  }
  return all;
}

void SharedChild::from_server(const Message& message) {
  const auto all = sessions();
  if (all.size() == 1) return all.front()->from_server(message);
  const bool general = !message.asks() && (message.method().ends_with("/list_changed") ||
                                           message.method() == "notifications/resources/updated");
  if (general) {
    for (const auto& session : all) session->from_server(message);
    return;
  }
  // Only when it can be told whose it is: what is one client's is no other's.
  if (const auto only = channel_->only()) {
    for (const auto& session : all) {
      if (session->owns(*only)) return session->from_server(message);
    }
  }
  if (message.asks()) {
    channel_->send(make_error(message.id(), kInternalError,
                              "several clients share this server: none of them can be asked"));
  }
}

void SharedChild::ended(const std::string& reason) {
  over_ = true;
  for (const auto& [begin, fail] : std::exchange(waiting_, {})) fail(reason);
  for (const auto& session : sessions()) session->end(reason);
}

void SharedChild::end() {
  over_ = true;
  channel_->link().end();
}

}  // namespace cordon::mcp
