// One long-lived thread of a backend: the parent of the spawner and so of every sandbox, and the
// place for work that no launch should wait for.
//
// The kernel kills the sandboxes when this thread ends (PR_SET_PDEATHSIG follows the thread, not
// the process), so it lives exactly as long as the backend.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "cordon/error.h"

namespace cordon::linux_backend {

class Keeper {
 public:
  // Error: resource_exhausted.
  [[nodiscard]] static Result<std::unique_ptr<Keeper>> start();
  // Runs what was posted, then ends.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Runs `job` on the thread, some time.
  void post(std::function<void()> job);
  // … and waits for it.
  void run(const std::function<void()>& job);

 private:
  Keeper() = default;
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace cordon::linux_backend
