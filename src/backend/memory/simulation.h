// The discrete-event simulation: virtual time, what can run now, and who waits.
//
// One mutex guards a simulation and everything that lives in it; `Lock` holds it. There is no
// thread of its own: whoever waits runs the others' programs. A caller that cannot make progress
// sleeps on a condition variable until another thread changes something.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backend/memory/schedule.h"
#include "cordon/clock.h"
#include "cordon/memory.h"

namespace cordon::memory {

class Lock;

// Something that can go on now. Embedded in what it runs.
struct Runnable {
  Runnable(const Runnable&) = delete;
  Runnable& operator=(const Runnable&) = delete;
  virtual void run(Lock& lock) = 0;
  Runnable* previous_ready = nullptr;
  Runnable* next_ready = nullptr;
  bool queued = false;

 protected:
  Runnable() = default;
  ~Runnable() = default;
};

// A thread that waits in a call. Lives on that thread's stack.
struct Waiter {
  bool (*satisfied)(const void* context) = nullptr;
  const void* context = nullptr;
  TimePoint deadline = TimePoint::max();
  std::thread::id thread{};
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
};

class Simulation {
 public:
  explicit Simulation(const Options& options) : options_(options) {}

  [[nodiscard]] TimePoint now() const { return TimePoint(Duration(now_.load())); }
  [[nodiscard]] WallTime wall_now() const { return options_.start + now().time_since_epoch(); }
  // `patience` from now, without overflow.
  [[nodiscard]] TimePoint after(Duration patience) const;
  [[nodiscard]] bool self_advancing() const { return options_.self_advancing; }

  // The rest needs the lock.

  void make_ready(Runnable& runnable);
  void unready(Runnable& runnable);
  void arm(Timer& timer, TimePoint at);
  void cancel(Timer& timer) { schedule_.cancel(timer); }
  // Something a waiting thread may be waiting for has changed.
  void changed() {
    if (sleepers_ > 0) wake_.notify_all();
  }

  // Event loops do not wait in a call of ours: they leave a callback and wait elsewhere. These are
  // the callbacks that are left, and those that were called but whose events nobody has taken yet.
  int listeners = 0;
  int told = 0;
  // On behalf of the event loops: runs programs and lets time pass until one of them has something
  // to do.
  void drive_for_listeners(Lock& lock);

  // Runs everything that can run at this instant.
  void settle(Lock& lock);
  // Runs programs, and lets time pass if it moves by itself, until `done()` or `deadline`. Returns
  // done().
  template <typename Done>
  bool wait(Lock& lock, TimePoint deadline, const Done& done) {
    return wait(lock, deadline, &call<Done>, &done, true);
  }
  void advance(Lock& lock, Duration duration);
  bool advance_to_next(Lock& lock);

 private:
  friend class Lock;

  template <typename Done>
  static bool call(const void* done) {
    return (*static_cast<const Done*>(done))();
  }
  // `may_sleep` false: returns instead of sleeping when only another thread could help.
  bool wait(Lock& lock, TimePoint deadline, bool (*satisfied)(const void*), const void* context,
            bool may_sleep);
  // Does one thing that is due now; false: there is none.
  bool step(Lock& lock);
  bool jump(const Waiter& self);
  [[nodiscard]] bool others_are_busy(const Waiter& self) const;
  void set_now(TimePoint now);
  void join(Waiter& waiter);
  void leave(Waiter& waiter);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> entering_{0};  // threads that found the mutex taken
  std::atomic<Duration::rep> now_{0};

  Schedule schedule_;
  Runnable* ready_head_ = nullptr;
  Runnable* ready_tail_ = nullptr;
  Waiter* waiters_ = nullptr;
  int sleepers_ = 0;
  std::vector<std::thread::id> outside_;  // threads that run a script's function just now
};

// Holds a simulation's mutex. What must not happen under it (calling the user, destroying what may
// lock) is put off until it is released.
class Lock {
 public:
  explicit Lock(Simulation& simulation);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void call_later(std::function<void()> call) { calls_.push_back(std::move(call)); }
  void drop_later(std::shared_ptr<const void> object) { drops_.push_back(std::move(object)); }
  // Does what was put off, without the mutex; then holds it again.
  void flush();
  // Runs `function` without the mutex. Time stands still for other threads meanwhile.
  template <typename Function>
  void outside(const Function& function) {
    begin_outside();
    function();
    end_outside();
  }
  // Lets threads that wait for the mutex have it.
  void give_way();

 private:
  friend class Simulation;
  void begin_outside();
  void end_outside();
  void acquire();
  void release();
  void do_put_off();

  Simulation& simulation_;
  std::unique_lock<std::mutex> held_;
  std::vector<std::function<void()>> calls_;
  std::vector<std::shared_ptr<const void>> drops_;
};

}  // namespace cordon::memory
