// What takes the time of a program's start, done by a few threads of its own so that the event loop
// never waits for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cordon::mcp {

class Starter {
 public:
  // None: work is done by whoever brings it.
  explicit Starter(std::size_t threads);
  // Waits for the work that has begun; the rest is dropped.
  ~Starter();
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

  void add(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cordon::mcp
