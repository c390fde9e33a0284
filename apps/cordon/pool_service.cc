#include "pool_service.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "pool_busy.h"
#include "pool_conversation.h"
#include "pool_manager.h"
#include "service_signals.h"

namespace cordon::app::pool {
namespace {

constexpr const char* kStage = "pool";
// Besides those that run or wait: who asks for the status, or is about to be refused.
constexpr std::uint64_t kMoreConnections = 32;
// After a failure that only time can mend, such as too many open files.
constexpr Duration kPause = std::chrono::milliseconds(50);

class Service {
 public:
  Service(const ServiceOptions& options, Engine& engine, service::Surroundings own,
          base::Fd listener, base::Fd signals, Wake stopping, Wake end_now)
      : options_(options),
        engine_(engine),
        own_(std::move(own)),
        listener_(std::move(listener)),
        signals_(std::move(signals)),
        stopping_(std::move(stopping)),
        end_now_(std::move(end_now)),
        slots_(options.size, kMostWaiting),
        shared_{
            .manager = engine.manager(),
            .slots = slots_,
            .own = own_,
            .end_now = end_now_,
            .status = [this] { return status(); },
            .stop = [this](Duration grace, Channel channel) { stop(grace, std::move(channel)); }} {}

  // Until somebody stops it.
  void accept_all() {
    while (true) {
      std::array<pollfd, 3> waiting = {{{.fd = stopping_.fd(), .events = POLLIN, .revents = 0},
                                        {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                        {.fd = listener_.get(), .events = POLLIN, .revents = 0}}};
      const auto left = time_left();
      const int ready = ::ppoll(waiting.data(), waiting.size(), left ? &*left : nullptr, nullptr);
      if (ready < 0 && errno != EINTR) return;
      if (waiting[0].revents != 0) return;
      if (waiting[1].revents != 0) {
        take_signal();
        return;
      }
      if (ready == 0 && idle()) return;
      if (ready > 0 && waiting[2].revents != 0) accept_one();
    }
  }

  // Gives what runs its grace, then ends it.
  void finish() {
    listener_.reset();
    slots_.close();
    const TimePoint until = real_clock().now() + grace();
    // Now and then a look whether there is a second signal.
    while (!all_have_left(kPause) && real_clock().now() < until && !signal_pending()) {
    }
    end_now_.set();
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return conversations_ == 0; });
  }

  // Those who wait for the end: dropping them tells them.
  [[nodiscard]] std::vector<Channel> take_stoppers() {
    const std::lock_guard lock(mutex_);
    return std::move(stoppers_);
  }

 private:
  void take_signal() const {
    signalfd_siginfo info{};
    (void)!::read(signals_.get(), &info, sizeof info);
  }
  [[nodiscard]] bool signal_pending() const {
    pollfd waiting{.fd = signals_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, 0) > 0;
  }

  [[nodiscard]] Duration grace() {
    const std::lock_guard lock(mutex_);
    return grace_;
  }
  [[nodiscard]] bool all_have_left(Duration patience) {
    std::unique_lock lock(mutex_);
    return left_.wait_for(lock, patience, [&] { return conversations_ == 0; });
  }

  // Until it counts as idle; nothing: it never does, or not now.
  [[nodiscard]] std::optional<timespec> time_left() {
    if (options_.idle == Duration{0}) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const Duration left = conversations_ > 0
                              ? options_.idle
                              : std::max(Duration{0}, last_ + options_.idle - real_clock().now());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    return timespec{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  }
  [[nodiscard]] bool idle() {
    const std::lock_guard lock(mutex_);
    return conversations_ == 0 && real_clock().now() - last_ >= options_.idle;
  }

  void accept_one() {
    base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        std::this_thread::sleep_for(kPause);
      }
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      if (conversations_ >= options_.size + kMostWaiting + kMoreConnections) {
        return turn_away(std::move(socket), conversations_);
      }
      ++conversations_;
    }
    try {
      std::thread([this, channel = Channel(base::move_up(std::move(socket)))]() mutable {
        converse(std::move(channel), shared_);
        leave();
      }).detach();  // counted instead: finish() waits for all of them
    } catch (const std::system_error&) {
      ++shared_.refused;
      leave();
    }
  }

  // Without a conversation, and without waiting for anything.
  void turn_away(base::Fd socket, std::uint64_t connections) {
    ++shared_.refused;
    (void)Channel(std::move(socket))
        .send(Kind::refused,
              Refused{.why = Refused::Why::busy, .message = why_no_conversation(connections)},
              Duration{0});
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    --conversations_;
    last_ = real_clock().now();
    left_.notify_all();
  }

  void stop(Duration grace, Channel channel) {
    const std::lock_guard lock(mutex_);
    grace_ = std::clamp<Duration>(grace, Duration{0}, std::chrono::hours(24));
    stoppers_.push_back(std::move(channel));
    stopping_.set();
  }

  [[nodiscard]] ServiceStatus status() const {
    const Slots::Counts counts = slots_.counts();
    return {.pid = ::getpid(),
            .uptime = real_clock().now() - started_,
            .size = options_.size,
            .running = counts.running,
            .waiting = counts.waiting,
            .served = shared_.served,
            .refused = shared_.refused,
            .parked = engine_.parked()};
  }

  const ServiceOptions options_;
  Engine& engine_;
  const service::Surroundings own_;
  base::Fd listener_;
  const base::Fd signals_;
  const Wake stopping_;
  const Wake end_now_;
  Slots slots_;
  Shared shared_;
  const TimePoint started_ = real_clock().now();

  std::mutex mutex_;
  std::condition_variable left_;
  std::uint64_t conversations_ = 0;
  TimePoint last_ = started_;  // when the last of them ended
  Duration grace_ = kStopGrace;
  std::vector<Channel> stoppers_;
};

}  // namespace

Result<void> serve(const service::Place& place, const ServiceOptions& options,
                   const std::function<void()>& ready) {
  auto signals = service::take_signals(kStage);
  if (!signals) return std::unexpected(std::move(signals.error()));
  auto stopping = Wake::create();
  auto end_now = Wake::create();
  if (!stopping || !end_now) {
    return std::unexpected(std::move((stopping ? end_now : stopping).error()));
  }
  auto own = service::own_surroundings();
  if (!own) return std::unexpected(std::move(own.error()));
  auto engine = Engine::make(options.size);
  if (!engine) return std::unexpected(std::move(engine.error()));
  auto listener = place.listen();
  if (!listener) return std::unexpected(std::move(listener.error()));

  std::vector<Channel> stoppers;
  {
    Service service(options, **engine, *std::move(own), *std::move(listener), *std::move(signals),
                    *std::move(stopping), *std::move(end_now));
    ready();
    service.accept_all();
    place.remove_socket();  // from here on nobody finds us
    service.finish();
    stoppers = service.take_stoppers();
  }
  engine->reset();
  return {};
}

}  // namespace cordon::app::pool
