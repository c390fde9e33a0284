#include "supervise/process_table.h"

#include <string>
#include <utility>

#include "base/errors.h"

namespace cordon::supervise {

void ProcessTable::add(ProcessId id, std::weak_ptr<Process> process) {
  const std::lock_guard lock(mutex_);
  entries_[id].known = std::move(process);
}

void ProcessTable::hold(ProcessId id, std::shared_ptr<Process> process) {
  const std::lock_guard lock(mutex_);
  entries_[id].held = std::move(process);
}

std::shared_ptr<Process> ProcessTable::release(ProcessId id) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(id);
  return entry == entries_.end() ? nullptr : std::exchange(entry->second.held, nullptr);
}

void ProcessTable::remove(ProcessId id) {
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
}

Result<std::shared_ptr<Process>> ProcessTable::get(ProcessId id) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(id);
  if (entry != entries_.end()) {
    if (auto process = entry->second.known.lock()) return process;
  }
  return base::fail(ErrorCode::not_found, "get",
                    "there is no process with id " + std::to_string(id) +
                        ": it was never created, or it has ended and nobody holds it");
}

std::vector<std::shared_ptr<Process>> ProcessTable::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Process>> all;
  all.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) {
    if (auto process = entry.known.lock()) all.push_back(std::move(process));
  }
  return all;
}

std::vector<std::shared_ptr<Process>> ProcessTable::running() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Process>> all;
  for (const auto& [id, entry] : entries_) {
    if (entry.held) all.push_back(entry.held);
  }
  return all;
}

}  // namespace cordon::supervise
