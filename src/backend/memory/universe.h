// What a memory::Manager shares with its processes; outlives it as long as one of them does.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/memory/simulation.h"
#include "backend/memory/step.h"
#include "backend/memory/task.h"
#include "cordon/limits.h"
#include "cordon/memory.h"
#include "cordon/outcome.h"
#include "supervise/process_table.h"

namespace cordon::memory {

struct Universe {
  explicit Universe(const Options& options);

  Simulation simulation;
  VirtualClock clock;
  supervise::ProcessTable table;
  const Enforcement enforcement;

  // Guarded by the simulation's lock.
  struct Entry {
    std::vector<SharedProgram> programs;
    std::size_t started = 0;  // how often
  };
  std::unordered_map<std::string, Entry> programs;
  // Simulated checkpoints, by name.
  std::unordered_map<std::string, std::shared_ptr<const Task::Image>> images;
  Limits default_limits;
  std::int64_t next_pid = 1000;
  std::size_t live = 0;  // programs
  bool closed = false;   // the manager is gone
};

}  // namespace cordon::memory
