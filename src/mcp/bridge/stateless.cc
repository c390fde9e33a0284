#include "mcp/bridge/stateless.h"

#include <algorithm>
#include <utility>

#include "mcp/versions.h"

namespace cordon::mcp {

bool Stateless::refuse(const Parsed& body, const Ask& ask, Reply& reply) {
  const auto& first = body.messages.front();
  if (body.batch || !first) {
    core_.refuse(reply, 400, kInvalidRequest,
                 "one message at a time: this revision has no batches");
    return true;
  }
  if (first->kind() == Message::Kind::notification) {
    // The revision has none for clients over HTTP, and none concerns the bridge.
    reply.answer({.status = 202, .headers = {}, .body = {}});
    return true;
  }
  if (first->answers()) {
    core_.refuse(reply, 400, kInvalidRequest, "no server asks anything in this revision");
    return true;
  }
  auto refusal = check_modern(ask, *first);
  if (!refusal && first->method() == "tools/call") refusal = header_params_.check(ask, *first);
  if (!refusal && core_.counts.in_flight >= core_.limits.max_stateless) {
    refusal = Refusal{.status = 503,
                      .code = kInternalError,
                      .message = "too many requests at once; try later",
                      .data = {}};
  }
  if (!refusal) return false;
  core_.refuse(reply, refusal->status, refusal->code, refusal->message, first->id(), refusal->data);
  return true;
}

void Stateless::handle(const Parsed& body, const Ask& ask, const std::shared_ptr<Reply>& reply) {
  if (refuse(body, ask, *reply)) return;
  const auto visit =
      std::make_shared<Visit>(core_, *body.messages.front(), ask, reply,
                              server_.make_gate ? server_.make_gate() : std::unique_ptr<Gate>());
  if (!visit->admitted()) return;
  waiting_.push_back(visit);
  serve_waiting();
}

Stateless::WorkerPtr Stateless::any_ready() const {
  const auto found = std::ranges::find_if(workers_, [](const auto& one) { return one->ready; });
  return found == workers_.end() ? nullptr : *found;
}

void Stateless::serve_waiting() {
  std::erase_if(waiting_, [](const auto& visit) { return visit->over(); });
  if (era_ == Era::modern) {
    if (const auto worker = any_ready()) {
      for (const auto& visit : std::exchange(waiting_, {})) call_modern(worker, visit);
    }
  }
  if (era_ == Era::sessions) {
    const auto all = std::exchange(waiting_, {});
    for (const auto& visit : all) {
      if (!serve_old(visit)) waiting_.push_back(visit);
    }
  }
  if (waiting_.empty()) return;
  const auto coming = std::ranges::count_if(workers_, [](const auto& one) { return !one->ready; });
  const std::size_t most = era_ == Era::sessions ? core_.limits.pooled : 1;
  if (static_cast<std::size_t>(coming) < waiting_.size() && workers_.size() < most) start_worker();
}

void Stateless::start_worker() {
  const auto worker = std::make_shared<Worker>();
  worker->channel = std::make_shared<Channel>(children_->take());
  worker->timer = core_.loop->timer();
  worker->used = core_.loop->now();
  workers_.push_back(worker);
  const auto with = [weak = weak_from_this(), one = std::weak_ptr(worker)](auto then) {
    return [weak, one, then](const auto& what) {
      const auto self = weak.lock();
      const auto known = one.lock();
      if (self && known) then(*self, known, what);
    };
  };
  worker->channel->open(
      {.unrelated = with([](Stateless& self, const WorkerPtr& known, const Message& message) {
         self.from_server(known, message);
       }),
       .ended = with([](Stateless& self, const WorkerPtr& known, const std::string& reason) {
         self.lost(known, reason);
       })});
  if (era_ == Era::sessions) return greet(worker);
  probe(worker);
}

void Stateless::probe(const WorkerPtr& worker) {
  const auto decide = [weak = weak_from_this(), one = std::weak_ptr(worker)](bool modern) {
    const auto self = weak.lock();
    const auto known = one.lock();
    if (!self || !known || known->ready || self->era_ == Era::sessions) return;
    known->timer->stop();
    self->era_ = modern ? Era::modern : Era::sessions;
    if (modern) return self->ready(known);
    self->greet(known);
  };
  worker->timer->start(core_.limits.probe_timeout, [decide] { decide(false); });
  Call call;
  call.answered = [decide](const Message& answer) { decide(speaks_modern(answer)); };
  (void)worker->channel->call("server/discover", own_discover_params(), std::move(call));
}

void Stateless::greet(const WorkerPtr& worker) {
  worker->timer->start(core_.limits.start_timeout,
                       [weak = weak_from_this(), one = std::weak_ptr(worker)] {
                         const auto self = weak.lock();
                         const auto known = one.lock();
                         if (!self || !known) return;
                         self->give_up(504, "the server did not answer initialize in time");
                         known->channel->link().end();
                       });
  Call call;
  call.answered = [weak = weak_from_this(), one = std::weak_ptr(worker)](const Message& answer) {
    const auto self = weak.lock();
    const auto known = one.lock();
    if (!self || !known) return;
    known->timer->stop();
    if (answer.kind() != Message::Kind::response) {
      self->give_up(502, "the server refused to begin");
      return known->channel->link().end();
    }
    known->greeting = answer.result();
    known->channel->send(make_notification("notifications/initialized"));
    self->ready(known);
  };
  (void)worker->channel->call("initialize", own_initialize_params(), std::move(call));
}

void Stateless::ready(const WorkerPtr& worker) {
  worker->ready = true;
  serve_waiting();
}

void Stateless::give_up(int status, std::string_view reason) {
  for (const auto& visit : std::exchange(waiting_, {})) visit->fail(status, reason);
}

void Stateless::lost(const WorkerPtr& worker, const std::string& reason) {
  worker->over = true;
  worker->timer->stop();
  std::erase(workers_, worker);
  if (worker->visit) std::exchange(worker->visit, nullptr)->fail(502, reason);
  const bool began = worker->ready;
  worker->ready = false;
  if (core_.stopping) return;
  // One that ends when it is asked for its era is one that knows nothing of it.
  if (!began && era_ == Era::unknown && !worker->channel->link().ending() &&
      worker->channel->link().was_started()) {
    era_ = Era::sessions;
    return serve_waiting();
  }
  if (began) return serve_waiting();
  // Another would end as this one did: those that are there serve who waits.
  if (workers_.empty()) give_up(502, reason);
}

void Stateless::from_server(const WorkerPtr& worker, const Message& message) {
  if (era_ == Era::modern) return from_modern(worker, message);
  from_old(worker, message);
}

void Stateless::sweep(Duration idle) {
  forget_listeners();
  const auto all = workers_;
  for (const auto& worker : all) {
    const bool used = worker->busy || worker->channel->in_flight() > 0 || !worker->ready ||
                      (era_ == Era::sessions && !listeners_.empty());
    if (used) {
      worker->used = core_.loop->now();
    } else if (core_.loop->now() - worker->used >= idle) {
      retire(worker);
    }
  }
}

void Stateless::retire(const WorkerPtr& worker) {
  worker->channel->link().end();
  worker->ready = false;
  std::erase(workers_, worker);
}

void Stateless::end(std::string_view reason) {
  give_up(503, reason);
  for (const auto& listener : std::exchange(listeners_, {})) listener.visit->close();
  for (const auto& [number, visit] : std::exchange(visits_, {})) visit->fail(503, reason);
  for (const auto& worker : workers_) {
    if (worker->visit) std::exchange(worker->visit, nullptr)->fail(503, reason);
  }
}

// --- A child of this era.

void Stateless::call_modern(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit) {
  if (worker->channel->link().queued() > core_.limits.pending_bytes) {
    return visit->fail(503, "the server is behind with its input");
  }
  worker->used = core_.loop->now();
  Call call;
  const auto number = std::make_shared<std::int64_t>(0);
  const auto done = [weak = weak_from_this(), number] {
    if (const auto self = weak.lock()) self->visits_.erase(*number);
  };
  call.answered = [weak = weak_from_this(), visit, done](const Message& answer) {
    const auto self = weak.lock();
    if (self && visit->request().method() == "tools/list") {
      self->header_params_.learn(answer.result());
    }
    done();
    visit->answer(answer.with_id(visit->id()));
  };
  call.related = [visit](const Message&, std::string text) { visit->send(std::move(text)); };
  call.lost = [visit, done](const std::string& reason) {
    done();
    visit->fail(502, reason);
  };
  *number = worker->channel->call(visit->request(), std::move(call));
  visits_.emplace(*number, visit);
  visit->when_gone([channel = std::weak_ptr(worker->channel), number, done] {
    done();
    if (const auto one = channel.lock()) one->cancel(*number, "the client has gone");
  });
}

void Stateless::from_modern(const WorkerPtr& worker, const Message& message) {
  if (message.asks()) {
    return worker->channel->send(make_error(message.id(), kMethodNotFound,
                                            "no client can be asked anything in this revision"));
  }
  if (message.method() == "notifications/cancelled") {  // a subscription that the server ends
    const auto request = member(message.params(), "requestId");
    const auto id = request ? Id::read(*request) : std::nullopt;
    for (const auto& [number, visit] : visits_) {
      if (!id || *id != Id::number(number)) continue;
      const auto ended = visit;
      worker->channel->forget(number);
      visits_.erase(number);
      return ended->close();
    }
    return;
  }
  // What names no request is told only when there is no doubt whose it is.
  const auto only = worker->channel->only();
  const auto found = only ? visits_.find(*only) : visits_.end();
  if (found != visits_.end() && found->second->request().method() != "subscriptions/listen") {
    found->second->send(message.text());
  }
}

}  // namespace cordon::mcp
