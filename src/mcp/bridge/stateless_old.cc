// Requests of the stateless era for a child of the eras with sessions.
#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "mcp/bridge/random_id.h"
#include "mcp/bridge/stateless.h"
#include "mcp/versions.h"

namespace cordon::mcp {
namespace {

bool may_need_input(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

bool failed(const Message& answer) {
  return answer.kind() == Message::Kind::error ||
         member(answer.result(), "isError") == std::string_view("true");
}

// The server was told that every client can be asked everything. If it fails after a refusal, that
// is the reason which the client has to know.
std::string lacks_capability(const Id& id, std::string_view capability) {
  base::JsonObject data;
  data.add("requiredCapabilities", base::JsonObject().add(capability, "{}").str());
  return make_error(id, kMissingCapability, "the server needs a capability that the client has not",
                    data.str());
}

}  // namespace

bool Stateless::serve_old(const std::shared_ptr<Visit>& visit) {
  const Message& request = visit->request();
  if (const auto state = string_member(request.params(), "requestState")) {
    for (const WorkerPtr& worker : workers_) {
      if (!worker->state.empty() && worker->state == *state && !worker->visit &&
          worker->method == request.method()) {
        resume(worker, visit);
        return true;
      }
    }
    visit->answer(make_error(visit->id(), kInvalidParams,
                             "requestState is unknown, or nobody has waited for it so long"));
    return true;
  }
  const auto some = any_ready();
  if (!some) return false;
  if (request.method() == "server/discover") {
    visit->answer(make_response(visit->id(), discover_result(some->greeting)));
    return true;
  }
  if (request.method() == "subscriptions/listen") {
    listen(some, visit);
    return true;
  }
  const auto free =
      std::ranges::find_if(workers_, [](const WorkerPtr& one) { return one->ready && !one->busy; });
  if (free == workers_.end()) {
    make_room();
    return false;
  }
  call_old(*free, visit);
  return true;
}

// When all are busy, a client that was asked and has not come back for longest loses its turn.
void Stateless::make_room() {
  if (workers_.size() < core_.limits.pooled) return;
  WorkerPtr oldest;
  for (const WorkerPtr& worker : workers_) {
    if (worker->state.empty() || worker->visit) continue;
    if (!oldest || worker->used < oldest->used) oldest = worker;
  }
  if (!oldest) return;
  // Not from here: whoever calls goes through those who wait.
  core_.loop->post([weak = weak_from_this(), one = std::weak_ptr(oldest), state = oldest->state] {
    const auto self = weak.lock();
    const auto known = one.lock();
    if (self && known && known->state == state) {
      self->cancel_old(known, "the client did not answer");
    }
  });
}

void Stateless::attach(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit) {
  worker->visit = visit;
  worker->used = core_.loop->now();
  worker->timer->stop();
  visit->when_gone([weak = weak_from_this(), one = std::weak_ptr(worker)] {
    const auto self = weak.lock();
    const auto known = one.lock();
    if (self && known) self->cancel_old(known, "the client has gone");
  });
}

void Stateless::call_old(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit) {
  worker->busy = true;
  worker->method = visit->request().method();
  attach(worker, visit);
  const auto with = [weak = weak_from_this(), one = std::weak_ptr(worker)](auto then) {
    return [weak, one, then](const Message& message, auto&&... more) {
      const auto self = weak.lock();
      const auto known = one.lock();
      if (self && known) then(*self, known, message, std::move(more)...);
    };
  };
  Call call;
  call.answered = with([](Stateless& self, const WorkerPtr& known, const Message& answer) {
    const auto asking = known->visit;
    const std::string method = known->method;
    if (method == "tools/list") self.header_params_.learn(answer.result());
    // A client that is to be asked first, and has not come back, is told nothing.
    const std::string lacking = known->lacking;
    self.release(known);
    if (asking && !lacking.empty() && failed(answer)) {
      asking->answer(lacks_capability(asking->id(), lacking));
    } else if (asking) {
      asking->answer(modern_answer(answer, asking->id(), method));
    }
    self.serve_waiting();
  });
  call.related =
      with([](Stateless&, const WorkerPtr& known, const Message&, const std::string& text) {
        if (known->visit) known->visit->send(text);
      });
  worker->number = worker->channel->call(visit->request(), std::move(call));
}

void Stateless::release(const WorkerPtr& worker) {
  worker->timer->stop();
  worker->visit.reset();
  worker->busy = false;
  worker->state.clear();
  worker->inputs.clear();
  worker->lacking.clear();
  worker->told = true;
  worker->used = core_.loop->now();
}

void Stateless::cancel_old(const WorkerPtr& worker, std::string_view reason) {
  worker->channel->cancel(worker->number, reason);
  for (const auto& [key, input] : worker->inputs) {
    worker->channel->send(make_error(input.id, kInternalError, reason));
  }
  release(worker);
  // The server may go on with it all the same, and what it then asks or says would be taken for the
  // next client's.
  retire(worker);
  serve_waiting();
}

void Stateless::forget_listeners() {
  std::erase_if(listeners_, [](const Listener& one) { return one.visit->over(); });
}

void Stateless::from_old(const WorkerPtr& worker, const Message& message) {
  if (message.asks()) return ask_input(worker, message);
  if (message.method() == "notifications/message") {
    if (!worker->visit) return;
    const auto wanted = request_meta(worker->visit->request(), kMetaLogLevel);
    const auto level = string_member(message.params(), "level");
    if (!wanted || !is_string(*wanted) || !level) return;
    if (severe_enough(*level, unescaped(*wanted))) worker->visit->send(message.text());
    return;
  }
  forget_listeners();
  for (const Listener& listener : listeners_) {
    if (in_filter(listener.filter, message)) {
      listener.visit->send(for_subscription(message, listener.visit->id()));
    }
  }
}

void Stateless::ask_input(const WorkerPtr& worker, const Message& message) {
  const auto refuse = [&](std::string_view why) {
    worker->channel->send(make_error(message.id(), kMethodNotFound, why));
  };
  if (message.method() == "ping") {
    return worker->channel->send(make_response(*message.id(), "{}"));
  }
  if (!worker->busy || !may_need_input(worker->method)) {
    return refuse("there is no client to be asked");
  }
  const std::string_view needed = needed_capability(message.method());
  if (needed.empty()) return refuse("the client cannot be asked this");
  if (worker->visit) {
    const auto capabilities = request_meta(worker->visit->request(), kMetaCapabilities);
    if (!member(capabilities.value_or("{}"), needed)) {
      worker->lacking = needed;
      return refuse("the client cannot be asked this");
    }
  }
  std::size_t held = message.params().size();
  for (const auto& [name, input] : worker->inputs) held += input.params.size();
  if (worker->inputs.size() >= core_.limits.max_requests || held > core_.limits.pending_bytes) {
    return refuse("the client has not answered so much already");
  }
  std::string key = "input-" + std::to_string(++worker->asked);
  worker->inputs.emplace(std::move(key), InputRequest{.id = *message.id(),
                                                      .method = message.method(),
                                                      .params = std::string(message.params())});
  if (!std::exchange(worker->told, false)) return;
  // Those that come together are asked together.
  core_.loop->post([weak = weak_from_this(), one = std::weak_ptr(worker)] {
    const auto self = weak.lock();
    const auto known = one.lock();
    if (self && known) self->tell_inputs(known);
  });
}

void Stateless::tell_inputs(const WorkerPtr& worker) {
  if (worker->told || !worker->visit || worker->inputs.empty()) return;
  worker->state = random_id();
  const auto visit = std::exchange(worker->visit, nullptr);
  if (worker->state.empty()) {
    visit->fail(500, "no random number is to be had");
    return cancel_old(worker, "no client");
  }
  worker->told = true;
  worker->timer->start(core_.limits.input_timeout,
                       [weak = weak_from_this(), one = std::weak_ptr(worker)] {
                         const auto self = weak.lock();
                         const auto known = one.lock();
                         if (self && known) self->cancel_old(known, "the client did not answer");
                       });
  visit->when_gone({});
  visit->answer(make_response(visit->id(), input_required(worker->inputs, worker->state)));
}

void Stateless::resume(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit) {
  attach(worker, visit);
  const auto responses = member(visit->request().params(), "inputResponses");
  for (auto input = worker->inputs.begin(); input != worker->inputs.end();) {
    const auto response = responses ? member(*responses, input->first) : std::nullopt;
    if (!response) {
      ++input;
      continue;
    }
    worker->channel->send(make_response(input->second.id, *response));
    input = worker->inputs.erase(input);
  }
  worker->state.clear();
  if (worker->inputs.empty()) return;
  worker->told = false;
  tell_inputs(worker);
}

void Stateless::listen(const WorkerPtr& worker, const std::shared_ptr<Visit>& visit) {
  const auto wanted = member(visit->request().params(), "notifications").value_or("{}");
  std::string filter = honoured_filter(wanted, worker->greeting);
  const auto ack = parse_one(make_notification("notifications/subscriptions/acknowledged",
                                               R"({"notifications":)" + filter + "}"));
  if (!ack) return visit->fail(500, "the filter cannot be read");
  if (const auto uris = member(filter, "resourceSubscriptions")) {
    Elements all(*uris);
    while (const auto uri = all.next()) {
      if (!is_string(*uri)) continue;
      (void)worker->channel->call("resources/subscribe", R"({"uri":)" + std::string(*uri) + "}",
                                  {});
    }
  }
  forget_listeners();
  listeners_.push_back({.visit = visit, .filter = std::move(filter)});
  visit->send(for_subscription(*ack, visit->id()));
}

}  // namespace cordon::mcp
