// The two threads of a backend: one is the parent of every runsc, the other does what nobody should
// wait for. To close a watch takes tens of milliseconds, and to remove a bundle some.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "backend/linux/keeper.h"
#include "cordon/error.h"

namespace cordon::gvisor_backend {

class Threads {
 public:
  // Error: resource_exhausted.
  [[nodiscard]] static Result<std::unique_ptr<Threads>> start();
  // When everything that was left to it is gone.
  ~Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Lives as long as this.
  [[nodiscard]] linux_backend::Keeper& parent() { return *parent_; }

  // So many things may wait to be destroyed.
  static constexpr int kMost = 16;
  // Destroys `thing` later; now, when too many are waiting for that already.
  template <typename T>
  void leave(T thing) {
    if (waiting_.fetch_add(1) >= kMost) {
      --waiting_;
      return;
    }
    const auto held = std::make_shared<T>(std::move(thing));
    cleaner_->post([this, held] {
      {
        const T gone = std::move(*held);
      }
      --waiting_;
    });
  }

 private:
  Threads() = default;

  std::unique_ptr<linux_backend::Keeper> parent_;
  std::atomic<int> waiting_{0};
  std::unique_ptr<linux_backend::Keeper> cleaner_;  // ends first
};

}  // namespace cordon::gvisor_backend
