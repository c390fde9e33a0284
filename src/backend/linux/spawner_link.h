// The supervisor's side of the spawner: starts it, and hands it scripts.
#pragma once

#include <sys/types.h>

#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/linux/keeper.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/verify.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

// Thread-safe.
class SpawnerLink {
 public:
  // `keeper` was made by this thread.
  explicit SpawnerLink(Keeper& keeper) : keeper_(keeper) {}
  ~SpawnerLink();
  SpawnerLink(const SpawnerLink&) = delete;
  SpawnerLink& operator=(const SpawnerLink&) = delete;

  // Starts the spawner in the background, for the first script to find it ready. Call it once,
  // before anything is sent.
  void start_ahead();
  // Sends a script. Its first descriptor must be its status socket. A spawner that has died is
  // started anew. Errors: resource_exhausted, system; invalid_argument if the script is too large.
  [[nodiscard]] Result<void> send(ScriptBuilder& script);
  // Lets the spawner end, which the destructor waits for. Nothing may be sent any more.
  void retire();
  [[nodiscard]] pid_t pid() const { return pid_; }  // -1: not started yet
  // Where the spawner is, and so every sandbox until it leaves. Known once a script was sent.
  struct Surroundings {
    int filters = 0;  // for seccomp; those of a container stay
    NamespaceIds namespaces{};
  };
  [[nodiscard]] Surroundings surroundings();

 private:
  struct Started {
    base::Fd socket;
    pid_t pid = -1;
    int filters = 0;
  };
  [[nodiscard]] static Result<Started> start_here();
  [[nodiscard]] Result<void> start();
  void stop();

  Keeper& keeper_;
  std::mutex mutex_;
  base::Fd socket_;
  pid_t pid_ = -1;
  // The keeper's thread, which starts the spawner, has them from us. It does not look itself: what
  // it had looked up below /proc/self/task would have to be forgotten by the kernel when it ends,
  // and whoever reaps this process then has to wait for that.
  Surroundings surroundings_{.namespaces = own_namespaces()};
  std::future<Result<Started>> ahead_;
};

}  // namespace cordon::linux_backend
