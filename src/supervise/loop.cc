#include "supervise/loop.h"

#include <fcntl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace cordon::supervise {

namespace asio = boost::asio;
using boost::system::error_code;

struct Loop::Impl {
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};

  // Deadlines: one timer, armed for the earliest. Guarded by `mutex`, the timer too.
  std::mutex mutex;
  asio::steady_timer timer{context};
  std::optional<TimePoint> armed;
  struct Entry {
    const Wakeable* key;
    std::weak_ptr<Wakeable> target;
  };
  std::multimap<TimePoint, Entry> deadlines;
  std::unordered_map<const Wakeable*, decltype(deadlines)::iterator> entries;

  WatchedSet watched;
  asio::posix::stream_descriptor ready{context};  // `watched`

  std::thread thread;

  void listen() {
    ready.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (error) return;
      watched.call_ready();
      listen();
    });
  }

  void arm() {  // mutex held
    if (deadlines.empty()) return;
    const TimePoint first = deadlines.begin()->first;
    if (armed && *armed <= first) return;
    armed = first;
    timer.expires_at(first);
    timer.async_wait([this](error_code error) {
      if (!error) fire();
    });
  }

  void fire() {
    std::vector<std::shared_ptr<Wakeable>> due;
    {
      const std::lock_guard lock(mutex);
      armed.reset();
      const TimePoint now = std::chrono::steady_clock::now();
      while (!deadlines.empty() && deadlines.begin()->first <= now) {
        const Entry& entry = deadlines.begin()->second;
        entries.erase(entry.key);
        if (auto target = entry.target.lock()) due.push_back(std::move(target));
        deadlines.erase(deadlines.begin());
      }
      arm();
    }
    for (const auto& target : due) target->on_wake();
  }
};

namespace {

// While it lives, new threads start with all signals blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  // Its own duplicate, which it closes.
  impl_->ready.assign(::fcntl(impl_->watched.fd(), F_DUPFD_CLOEXEC, 0));
  impl_->listen();
  const SignalsBlocked blocked;  // the application's signal handlers are not ours to run
  impl_->thread = std::thread([impl = impl_.get()] { impl->context.run(); });
}

Result<std::unique_ptr<Loop>> Loop::make() {
  constexpr const char* kWhat = "starting the supervisor's thread";
  try {
    return std::unique_ptr<Loop>(new Loop);
  } catch (const boost::system::system_error& error) {
    return base::fail_os("start", error.code().value(), kWhat);
  } catch (const std::system_error& error) {
    return base::fail_os("start", error.code().value(), kWhat);
  }
}

Loop::~Loop() {
  impl_->context.stop();
  impl_->thread.join();
}

void Loop::wake_at(const std::shared_ptr<Wakeable>& target, TimePoint when) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->entries.find(target.get());
  if (entry != impl_->entries.end()) impl_->deadlines.erase(entry->second);
  impl_->entries[target.get()] = impl_->deadlines.emplace(when, Impl::Entry{target.get(), target});
  impl_->arm();
}

void Loop::forget(const Wakeable* target) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->entries.find(target);
  if (entry == impl_->entries.end()) return;
  impl_->deadlines.erase(entry->second);
  impl_->entries.erase(entry);
  // The timer stays armed; an early wake-up finds nothing due.
}

Loop::Watch::Watch(Loop& loop, int fd)
    : watched_(loop.impl_->watched), id_(loop.impl_->watched.add(fd)) {}

Loop::Watch::~Watch() { watched_.forget(id_); }

void Loop::Watch::when_readable(std::function<void()> ready) {
  watched_.when_readable(id_, std::move(ready));
}

void Loop::Watch::when_writable(std::function<void()> ready) {
  watched_.when_writable(id_, std::move(ready));
}

}  // namespace cordon::supervise
