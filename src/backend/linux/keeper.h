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
  // Runs what was posted, then ends. The thread that ends it helps with what may run anywhere.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Runs `job` on the thread, some time.
  void post(std::function<void()> job);
  // … or on a thread that waits for all of them to be done.
  void post_anywhere(std::function<void()> job);
  // Runs it on the thread, and waits for it.
  void run(const std::function<void()>& job);
  // Waits for all that was posted until now, and helps with what may run anywhere.
  void finish();

 private:
  Keeper() = default;
  struct Job {
    std::function<void()> work;
    bool anywhere = false;
  };
  void add(Job job);
  void work();
  void help();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace cordon::linux_backend
