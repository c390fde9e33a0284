#include "call_book.h"

#include <chrono>
#include <utility>

namespace cordon::app {
namespace {

// So many are written at once, or those of so long a time.
constexpr std::size_t kAtOnce = 256;
constexpr auto kWithin = std::chrono::milliseconds(100);
constexpr std::size_t kMost = 16'384;

}  // namespace

CallBook::CallBook(RecordedRun& run) : run_(run), thread_([this] { write(); }) {}

CallBook::~CallBook() {
  {
    const std::scoped_lock guard(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CallBook::add(audit::Call call) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return calls_.size() < kMost || !works_; });
  if (!works_) return;
  calls_.push_back(std::move(call));
  const std::size_t now = calls_.size();
  lock.unlock();
  if (now == 1 || now == kAtOnce) changed_.notify_all();
}

void CallBook::write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !calls_.empty() || over_; });
    if (calls_.empty()) return;
    changed_.wait_for(lock, kWithin, [&] { return calls_.size() >= kAtOnce || over_; });
    const std::vector<audit::Call> now = std::exchange(calls_, {});
    lock.unlock();
    const bool written = run_.called(now).has_value();
    lock.lock();
    if (!written) {
      works_ = false;
      calls_.clear();
    }
    changed_.notify_all();
    if (!works_) return;
  }
}

}  // namespace cordon::app
