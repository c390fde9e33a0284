#include "backend/linux/keeper.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace cordon::linux_backend {

Result<std::unique_ptr<Keeper>> Keeper::start() {
  std::unique_ptr<Keeper> keeper(new Keeper);
  // The application's signal handlers are not ours to run.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    keeper->thread_ = std::thread([k = keeper.get()] { k->work(); });
  } catch (const std::system_error& failed) {
    error = failed.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return base::fail_os("start", error, "starting the backend's thread");
  return keeper;
}

Keeper::~Keeper() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Keeper::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void Keeper::run(const std::function<void()>& job) {
  bool done = false;
  post([&] {
    job();
    const std::lock_guard lock(mutex_);
    done = true;
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done; });
}

void Keeper::work() {
  (void)pthread_setname_np(pthread_self(), "cordon-keeper");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace cordon::linux_backend
