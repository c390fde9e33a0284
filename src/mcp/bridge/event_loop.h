// The event loop as the bridge needs it: "do this soon" and "do this later". What knows Boost is
// event_loop.cc alone.
//
// post() may be called in any thread and after close(): then nothing comes of it. Everything else
// is for the thread that runs the loop. Until close() the loop does not run out of work.
#pragma once

#include <functional>
#include <memory>

#include "cordon/clock.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming)
}

namespace cordon::mcp {

// Calls once, unless it is replaced or goes first.
class Timer {
 public:
  Timer() = default;
  virtual ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  virtual void start(Duration after, std::function<void()> call) = 0;
  virtual void stop() = 0;
};

class EventLoop {
 public:
  explicit EventLoop(boost::asio::io_context& context);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void post(std::function<void()> call);
  [[nodiscard]] std::unique_ptr<Timer> timer();
  [[nodiscard]] TimePoint now() const;
  // The context is not touched any more.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace cordon::mcp
