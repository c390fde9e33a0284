#include "pool_conversation.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "concat.h"
#include "cordon/version.h"
#include "pool_busy.h"
#include "pool_client.h"
#include "session.h"

namespace cordon::app::pool {
namespace {

// A client has its first words ready: only one that is not one of ours lets us wait.
constexpr Duration kHello = std::chrono::seconds(2);
// For what follows it may have to write a record to a slow disk first.
constexpr Duration kPatience = std::chrono::seconds(10);

class Conversation {
 public:
  Conversation(Channel channel, Shared& shared) : channel_(std::move(channel)), shared_(shared) {}

  void talk() {
    auto peer = service::surroundings_of_peer(channel_.fd(), "pool");
    if (!peer) return refuse(Refused::Why::not_permitted, peer.error().message);
    if (const auto ok = check_permitted(*peer, shared_.own); !ok) {
      return refuse(Refused::Why::not_permitted, ok.error().message);
    }
    auto first = channel_.receive(kHello);
    if (!first) return refuse_bad(first.error());
    switch (first->kind) {
      case Kind::status:
        (void)channel_.send(Kind::status, shared_.status(), kPatience);
        return;
      case Kind::stop:
        return stop(*first);
      case Kind::reserve:
        return reserve(*first, *peer);
      default:
        return refuse(Refused::Why::bad_message, "a connection does not begin with this");
    }
  }

 private:
  void refuse(Refused::Why why, std::string message) {
    ++shared_.refused;
    (void)channel_.send(Kind::refused, Refused{.why = why, .message = std::move(message)},
                        kPatience);
  }
  void refuse_bad(const Error& error) {
    if (error.code == ErrorCode::closed) return;  // nobody hears it
    refuse(Refused::Why::bad_message, error.message);
  }

  void stop(const Message& message) {
    const auto asked = from_bytes<Stop>(message.bytes);
    if (!asked) return refuse(Refused::Why::bad_message, "this is no request to stop");
    (void)channel_.send(Kind::stopping, shared_.status(), kPatience);
    shared_.stop(asked->grace, std::move(channel_));
  }

  void reserve(const Message& message, const service::Surroundings& peer) {
    const auto asked = from_bytes<Reserve>(message.bytes);
    if (!asked) return refuse(Refused::Why::bad_message, "this is no request for a place");
    if (const std::string what = what_differs(*asked, peer); !what.empty()) {
      return refuse(Refused::Why::different, concat("its ", what, " is not that of the pool"));
    }
    const Slots::Answer answer = shared_.slots.acquire(channel_.fd(), asked->patience);
    switch (answer.got) {
      case Slots::Got::place:
        break;
      case Slots::Got::closing:
        return refuse(Refused::Why::stopping, "the pool is being stopped");
      case Slots::Got::gone:
        return;
      default:
        return refuse(Refused::Why::busy,
                      why_busy(answer, shared_.slots.places(), asked->patience));
    }
    const TimePoint since = real_clock().now();
    run();
    shared_.slots.release(real_clock().now() - since);
  }

  [[nodiscard]] std::string what_differs(const Reserve& asked,
                                         const service::Surroundings& peer) const {
    if (asked.version != version()) return concat("version (", asked.version, ")");
    if (asked.home != variable("HOME")) return "HOME";
    if (asked.tmpdir != variable("TMPDIR")) return "TMPDIR";
    return difference(peer, shared_.own);
  }

  void run() {
    if (!channel_.send(Kind::ready, Nothing{}, kPatience)) return;
    auto message = channel_.receive(kPatience);
    if (!message) return refuse_bad(message.error());
    auto request = message->kind == Kind::run ? from_bytes<Request>(message->bytes) : std::nullopt;
    if (!request || message->descriptors.size() != 3 + request->pins.size()) {
      return refuse(Refused::Why::bad_message, "this is no request to run something");
    }
    const auto given = [&](std::size_t index) { return message->descriptors[index].get(); };
    request->in = Input::from_fd(given(0));
    request->out = Output::to_fd(given(1));
    request->err = Output::to_fd(given(2));
    for (std::size_t i = 0; i < request->pins.size(); ++i) request->pins[i].fd = given(3 + i);
    request->timeout = kNoTimeout;  // the client sees to that

    const auto created = shared_.manager.create(*std::move(request));
    if (!created) return end(not_started(shared_.manager, created.error()));
    Process& process = **created;
    EventStream events = process.events();
    const auto started = process.start();
    message->descriptors.clear();  // else a reader of them would never see their end
    if (!started) {
      return end(process.outcome().value_or(not_started(shared_.manager, started.error())));
    }
    follow(process, events);
  }

  void follow(Process& process, EventStream& events) {
    auto wake = Wake::create();
    const auto told =
        channel_.send(Kind::started, Started{.pid = process.os_pid().value_or(0)}, kPatience);
    if (!wake || !told) {
      (void)process.kill();
    } else {
      // Shared with the callback, which may still be at work when it has told us.
      const auto ended = std::make_shared<const Wake>(*std::move(wake));
      events.notify([ended] { ended->set(); });
      obey(process, *ended);
      events.notify({});
    }
    auto outcome = process.wait();
    if (outcome) end(*std::move(outcome));
  }

  // Until the program has ended, whoever ends it.
  void obey(Process& process, const Wake& ended) {
    bool connected = true;
    bool killed = false;
    while (true) {
      std::array<pollfd, 3> waiting = {
          {{.fd = ended.fd(), .events = POLLIN, .revents = 0},
           {.fd = connected ? channel_.fd() : -1, .events = POLLIN, .revents = 0},
           {.fd = killed ? -1 : shared_.end_now.fd(), .events = POLLIN, .revents = 0}}};
      if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) {
        (void)process.kill();
        return;
      }
      if (waiting[0].revents != 0) return;
      if (waiting[2].revents != 0) {
        (void)process.kill();
        killed = true;
      }
      if (waiting[1].revents != 0 && !hear(process)) {
        (void)process.kill();
        connected = false;
      }
    }
  }

  // All that was said. False: the client is gone, or does not make sense.
  [[nodiscard]] bool hear(Process& process) {
    while (true) {
      auto message = channel_.receive(Duration{0});
      if (!message) {
        if (message.error().code == ErrorCode::timed_out) return true;
        refuse_bad(message.error());
        return false;
      }
      const auto asked =
          message->kind == Kind::signal ? from_bytes<Signal>(message->bytes) : std::nullopt;
      if (!asked || !message->descriptors.empty()) {
        refuse(Refused::Why::bad_message, "only signals can be sent to a program that runs");
        return false;
      }
      if (asked->number == SIGKILL && asked->tree) {
        (void)process.kill();
      } else {
        (void)process.signal(asked->number, asked->tree ? Reach::tree : Reach::program);
      }
    }
  }

  void end(Outcome outcome) {
    ++shared_.served;
    (void)channel_.send(Kind::ended, std::move(outcome), kPatience);
  }

  Channel channel_;
  Shared& shared_;
};

}  // namespace

void converse(Channel channel, Shared& shared) { Conversation(std::move(channel), shared).talk(); }

}  // namespace cordon::app::pool
