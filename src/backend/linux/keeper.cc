#include "backend/linux/keeper.h"

#include <pthread.h>

#include <algorithm>
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
  help();
  thread_.join();
}

void Keeper::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto next = std::ranges::find_if(jobs_, &Job::anywhere);
    if (next == jobs_.end()) return;
    {
      const Job job = std::move(*next);
      jobs_.erase(next);
      lock.unlock();
      job.work();
    }
    lock.lock();
  }
}

void Keeper::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void Keeper::post(std::function<void()> job) { add({.work = std::move(job)}); }

void Keeper::post_anywhere(std::function<void()> job) {
  add({.work = std::move(job), .anywhere = true});
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

void Keeper::finish() {
  help();
  run([] {});
}

void Keeper::work() {
  (void)pthread_setname_np(pthread_self(), "cordon-keeper");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job.work();
    }  // what it holds may take long to end, and may post
    lock.lock();
  }
}

}  // namespace cordon::linux_backend
