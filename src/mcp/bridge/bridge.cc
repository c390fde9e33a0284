#include "mcp/bridge/bridge.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "mcp/bridge/children.h"
#include "mcp/bridge/core.h"
#include "mcp/bridge/modern_request.h"
#include "mcp/bridge/random_id.h"
#include "mcp/bridge/session.h"
#include "mcp/bridge/shared_child.h"
#include "mcp/bridge/stateless.h"
#include "mcp/versions.h"

namespace cordon::mcp {
namespace {

constexpr std::size_t kMostInBatch = 100;

}  // namespace

class Bridge::Impl : public std::enable_shared_from_this<Bridge::Impl> {
 public:
  Impl(boost::asio::io_context& context, std::vector<ServedServer> servers, BridgeLimits limits,
       BridgeLog log)
      : core_(context, limits, std::move(log)), sweeper_(core_.loop->timer()) {
    for (ServedServer& server : servers) {
      auto served = std::make_unique<Served>();
      served->config = std::move(server);
      served->children = std::make_shared<Children>(core_, served->config);
      served->stateless = std::make_shared<Stateless>(core_, served->config, served->children);
      std::string name = served->config.name;
      served_.emplace(std::move(name), std::move(served));
    }
    core_.child_gone = [this] { check_done(); };
  }
  ~Impl() {
    core_.stopping = true;
    core_.child_gone = {};
    for (const auto& [id, session] : std::exchange(sessions_, {})) session->end(kGoing);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void begin() { sweep_later(); }
  [[nodiscard]] EventLoop& loop() { return *core_.loop; }
  [[nodiscard]] bool knows(std::string_view name) const { return served_.contains(name); }
  void handle(const Ask& ask, const std::shared_ptr<Reply>& reply);
  void warm_up() {
    for (const auto& [name, served] : served_) served->children->refill();
  }
  [[nodiscard]] BridgeStats stats() const;
  void shutdown(std::function<void()> done);

 private:
  struct Served {
    ServedServer config;
    std::shared_ptr<Children> children;
    std::shared_ptr<SharedChild> shared;
    std::shared_ptr<Stateless> stateless;
  };
  static constexpr std::string_view kGoing = "the bridge is shutting down";

  void post(Served& served, const Ask& ask, const std::shared_ptr<Reply>& reply);
  void open_session(Served& served, const Message& request, const Ask& ask,
                    const std::shared_ptr<Reply>& reply);
  void open_own(Served& served, Session::Parts parts, const Message& request, const Ask& ask,
                const std::shared_ptr<Reply>& reply);
  void open_shared(Served& served, Session::Parts parts, const Message& request, const Ask& ask,
                   const std::shared_ptr<Reply>& reply);
  // None: the reply has been given.
  [[nodiscard]] std::shared_ptr<Session> session_of(const Served& served, const Ask& ask,
                                                    Reply& reply);
  void sweep_later();
  void sweep();
  void check_done();

  BridgeCore core_;
  std::map<std::string, std::unique_ptr<Served>, std::less<>> served_;
  std::map<std::string, std::shared_ptr<Session>, std::less<>> sessions_;
  std::unique_ptr<Timer> sweeper_;
  std::function<void()> done_;
};

void Bridge::Impl::handle(const Ask& ask, const std::shared_ptr<Reply>& reply) {
  if (core_.stopping) return core_.refuse(*reply, 503, kInternalError, kGoing);
  const auto found = served_.find(ask.server);
  if (found == served_.end()) {
    return core_.refuse(*reply, 404, kInvalidRequest, "there is no such server");
  }
  Served& served = *found->second;
  if (ask.verb == Verb::post) return post(served, ask, reply);
  if (ask.header("mcp-protocol-version") == kModern) {
    ++core_.counts.refused;
    return reply->answer({.status = 405, .headers = {{"allow", "POST"}}, .body = {}});
  }
  const auto session = session_of(served, ask, *reply);
  if (!session) return;
  if (ask.verb == Verb::get) return session->get(ask, reply);
  session->end("the client has ended the session");
  reply->answer({.status = 204, .headers = {}, .body = {}});
}

void Bridge::Impl::post(Served& served, const Ask& ask, const std::shared_ptr<Reply>& reply) {
  MessageLimits limits = core_.limits.client;
  limits.max_batch = kMostInBatch;
  const auto body = parse(ask.body, limits);
  if (!body)
    return core_.refuse(*reply, 400, body.error().code, body.error().message, body.error().id);
  if (is_modern(ask, *body)) return served.stateless->handle(*body, ask, reply);
  const auto& first = body->messages.front();
  if (!body->batch && !first) {
    return core_.refuse(*reply, 400, first.error().code, first.error().message, first.error().id);
  }
  if (!body->batch && first->asks() && first->method() == "initialize") {
    if (ask.header("mcp-session-id")) {
      return core_.refuse(*reply, 400, kInvalidRequest, "initialize begins a session of its own",
                          first->id());
    }
    return open_session(served, *first, ask, reply);
  }
  const auto session = session_of(served, ask, *reply);
  if (!session) return;
  if (body->batch && !session->takes_batches()) {
    return core_.refuse(*reply, 400, kInvalidRequest,
                        "one message at a time: this revision has no batches");
  }
  session->post(*body, ask, reply);
}

std::shared_ptr<Session> Bridge::Impl::session_of(const Served& served, const Ask& ask,
                                                  Reply& reply) {
  const auto version = ask.header("mcp-protocol-version");
  if (version && !has_sessions(*version)) {
    core_.refuse(reply, 400, kInvalidRequest, "this MCP-Protocol-Version is not spoken here");
    return nullptr;
  }
  const auto id = ask.header("mcp-session-id");
  if (!id || id->empty()) {
    core_.refuse(reply, 400, kInvalidRequest, "Mcp-Session-Id is missing: begin with initialize");
    return nullptr;
  }
  const auto found = sessions_.find(*id);
  if (found == sessions_.end() || found->second->server() != served.config.name) {
    core_.refuse(reply, 404, kInvalidRequest, "there is no such session: begin with initialize");
    return nullptr;
  }
  return found->second;
}

void Bridge::Impl::open_session(Served& served, const Message& request, const Ask& ask,
                                const std::shared_ptr<Reply>& reply) {
  ++core_.counts.requests;
  if (sessions_.size() >= core_.limits.max_sessions) {
    return core_.refuse(*reply, 503, kInternalError, "there are too many sessions; try later",
                        request.id());
  }
  Session::Parts parts;
  parts.id = random_id();
  parts.server = served.config.name;
  if (parts.id.empty()) {
    return core_.refuse(*reply, 500, kInternalError, "no random number is to be had", request.id());
  }
  if (served.config.make_gate) parts.gate = served.config.make_gate();
  if (served.config.shared) return open_shared(served, std::move(parts), request, ask, reply);
  open_own(served, std::move(parts), request, ask, reply);
}

void Bridge::Impl::open_own(Served& served, Session::Parts parts, const Message& request,
                            const Ask& ask, const std::shared_ptr<Reply>& reply) {
  const std::string id = parts.id;
  const auto channel = std::make_shared<Channel>(served.children->take());
  parts.channel = channel;
  parts.ended = [this, id] { sessions_.erase(id); };
  const auto session = std::make_shared<Session>(core_, std::move(parts));
  channel->open({.unrelated =
                     [weak = std::weak_ptr(session)](const Message& message) {
                       if (const auto one = weak.lock()) one->from_server(message);
                     },
                 .ended =
                     [weak = std::weak_ptr(session)](const std::string& reason) {
                       if (const auto one = weak.lock()) one->end(reason);
                     }});
  sessions_.emplace(id, session);
  session->initialize(request, ask, reply, std::nullopt);
}

void Bridge::Impl::open_shared(Served& served, Session::Parts parts, const Message& request,
                               const Ask& ask, const std::shared_ptr<Reply>& reply) {
  if (!served.shared || !served.shared->usable()) {
    served.shared = std::make_shared<SharedChild>(served.children->take());
    served.shared->open();
  }
  const auto shared = served.shared;
  const std::string id = parts.id;
  parts.channel = shared->channel();
  parts.own_child = false;
  // Found through the map: while it ends it is still there.
  parts.ended = [this, id, shared] {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    const auto session = found->second;
    sessions_.erase(found);
    shared->leave(*session);
    if (session->greeting().empty()) shared->failed();
  };
  parts.greeted = [shared](const std::string& result) { shared->begun(result); };
  const auto session = std::make_shared<Session>(core_, std::move(parts));
  sessions_.emplace(id, session);
  shared->join(
      session,
      [session = std::weak_ptr(session), request, ask,
       reply](const std::optional<std::string>& result) {
        const auto one = session.lock();
        if (one && !one->over()) one->initialize(request, ask, reply, result);
      },
      [this, reply, id = request.id()](const std::string& reason) {
        core_.refuse(*reply, 502, kInternalError, reason, id);
      });
}

BridgeStats Bridge::Impl::stats() const {
  BridgeStats stats = core_.counts;
  stats.sessions = sessions_.size();
  for (const auto& [name, served] : served_) {
    stats.children += served->children->alive();
    stats.spare += served->children->spare();
    stats.starting += served->children->starting();
  }
  return stats;
}

void Bridge::Impl::sweep_later() {
  using std::chrono::milliseconds;
  const Duration pause =
      std::clamp<Duration>(core_.limits.idle / 4, milliseconds(5), std::chrono::seconds(10));
  sweeper_->start(pause, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->sweep();
  });
}

void Bridge::Impl::sweep() {
  if (core_.stopping) return;
  std::vector<std::shared_ptr<Session>> idle;
  for (const auto& [id, session] : sessions_) {
    if (session->idle_for(core_.limits.idle)) idle.push_back(session);
  }
  for (const auto& session : idle) session->end("nobody has used the session");
  for (const auto& [name, served] : served_) {
    served->stateless->sweep(core_.limits.idle);
    if (served->shared && served->shared->alone()) {
      served->shared->end();
      served->shared.reset();
    }
  }
  sweep_later();
}

void Bridge::Impl::shutdown(std::function<void()> done) {
  if (core_.stopping) return;
  core_.stopping = true;
  done_ = std::move(done);
  sweeper_->stop();
  for (const auto& [id, session] : std::exchange(sessions_, {})) session->end(kGoing);
  for (const auto& [name, served] : served_) {
    served->stateless->end(kGoing);
    served->children->end_all();
  }
  check_done();
}

void Bridge::Impl::check_done() {
  if (!core_.stopping || !done_) return;
  for (const auto& [name, served] : served_) {
    if (served->children->alive() > 0) return;
  }
  core_.loop->post(std::exchange(done_, {}));
  core_.loop->close();
}

Bridge::Bridge(boost::asio::io_context& loop, std::vector<ServedServer> servers,
               BridgeLimits limits, BridgeLog log)
    : impl_(std::make_shared<Impl>(loop, std::move(servers), limits, std::move(log))) {
  impl_->begin();
}

Bridge::~Bridge() = default;

bool Bridge::knows(std::string_view server) const { return impl_->knows(server); }
void Bridge::handle(Ask ask, std::shared_ptr<Reply> reply) { impl_->handle(ask, reply); }
void Bridge::warm_up() { impl_->warm_up(); }
BridgeStats Bridge::stats() const { return impl_->stats(); }
void Bridge::shutdown(std::function<void()> done) { impl_->shutdown(std::move(done)); }
bool Bridge::look() { return impl_->loop().look(); }
void Bridge::rest() { impl_->loop().rest(); }

}  // namespace cordon::mcp
