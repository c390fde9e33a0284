// The event loop as the bridge needs it: "do this soon" and "do this later". What knows Boost is
// event_loop.cc alone.
//
// post() may be called in any thread and after close(): then nothing comes of it. Everything else
// is for the thread that runs the loop. Until close() the loop does not run out of work.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

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

// Something that can be asked whether there is news, in place of having another thread tell.
class Lookout {
 public:
  Lookout() = default;
  virtual ~Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  // False: no news, look again. Otherwise it has been dealt with, and nobody looks any more.
  virtual bool look() = 0;
  // The loop goes to sleep, and nobody looks any more: have it woken when there is news.
  virtual void rest() = 0;
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

  // Whoever runs the loop may stay awake for a while: then it calls look() again and again, which
  // says whether there was news, and rest() before it sleeps. In between, `one` is looked at.
  // False: it is not, since the loop is about to sleep or has enough to look at.
  [[nodiscard]] bool look_at(std::weak_ptr<Lookout> one);
  bool look();
  void rest();

  // The context is not touched any more.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
  std::vector<std::weak_ptr<Lookout>> looked_at_;
  bool awake_ = false;
};

}  // namespace cordon::mcp
