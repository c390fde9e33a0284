// A Manager's thread-safe table of processes (C17).
//
// Keeps running processes alive; knows the others only as long as somebody holds them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cordon/process.h"

namespace cordon::supervise {

class ProcessTable {
 public:
  [[nodiscard]] ProcessId next_id() { return next_id_.fetch_add(1); }

  void add(ProcessId id, std::weak_ptr<Process> process);
  // The process is running: keeps it.
  void hold(ProcessId id, std::shared_ptr<Process> process);
  // It has ended: lets go of it. The caller drops what is returned outside its own locks.
  [[nodiscard]] std::shared_ptr<Process> release(ProcessId id);
  // It is gone.
  void remove(ProcessId id);

  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> running() const;

 private:
  struct Entry {
    std::weak_ptr<Process> known;
    std::shared_ptr<Process> held;
  };
  mutable std::mutex mutex_;
  std::map<ProcessId, Entry> entries_;
  std::atomic<ProcessId> next_id_{1};
};

}  // namespace cordon::supervise
