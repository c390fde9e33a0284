#include "mcp/bridge/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <optional>
#include <utility>

namespace cordon::mcp {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostLookedAt = 8;  // each takes a system call or two

class SteadyTimer final : public Timer {
 public:
  explicit SteadyTimer(asio::io_context& context) : timer_(context) {}

  void start(Duration after, std::function<void()> call) override {
    timer_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(after));
    // A call that is on its way already when the timer is stopped must not come.
    turn_ = std::make_shared<bool>(true);
    timer_.async_wait([turn = std::weak_ptr<bool>(turn_), call = std::move(call)](auto error) {
      if (!error && !turn.expired()) call();
    });
  }
  void stop() override {
    turn_.reset();
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> turn_;
};

}  // namespace

class EventLoop::Impl {
 public:
  explicit Impl(asio::io_context& context)
      : context_(&context), work_(asio::make_work_guard(context)) {}

  void post(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) asio::post(*context_, std::move(call));
  }
  asio::io_context& context() { return *context_; }
  void close() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    work_.reset();
  }

 private:
  std::mutex mutex_;
  asio::io_context* context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
};

EventLoop::EventLoop(asio::io_context& context) : impl_(std::make_shared<Impl>(context)) {}
EventLoop::~EventLoop() { close(); }

void EventLoop::post(std::function<void()> call) { impl_->post(std::move(call)); }
std::unique_ptr<Timer> EventLoop::timer() {
  return std::make_unique<SteadyTimer>(impl_->context());
}
TimePoint EventLoop::now() const { return real_clock().now(); }
void EventLoop::close() { impl_->close(); }

bool EventLoop::look_at(std::weak_ptr<Lookout> one) {
  if (!awake_ || looked_at_.size() >= kMostLookedAt) return false;
  looked_at_.push_back(std::move(one));
  return true;
}

bool EventLoop::look() {
  awake_ = true;
  bool news = false;
  // What has news may be looked at again.
  for (auto& one : std::exchange(looked_at_, {})) {
    const auto lookout = one.lock();
    if (!lookout) continue;
    if (lookout->look()) {
      news = true;
    } else {
      looked_at_.push_back(std::move(one));
    }
  }
  return news;
}

void EventLoop::rest() {
  awake_ = false;
  for (const auto& one : std::exchange(looked_at_, {})) {
    if (const auto lookout = one.lock()) lookout->rest();
  }
}

}  // namespace cordon::mcp
