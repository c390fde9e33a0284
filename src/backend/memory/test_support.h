// Short ways to run a script in the memory backend's own tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cordon/memory.h"

namespace cordon::memory {

using namespace std::chrono_literals;

inline Request request_for(std::string program) {
  Request request;
  request.program = std::move(program);
  return request;
}

inline std::shared_ptr<Process> start(Manager& manager, Request request) {
  auto process = manager.create(std::move(request));
  EXPECT_TRUE(process.has_value());
  const auto started = (*process)->start();
  EXPECT_TRUE(started.has_value()) << started.error().message;
  return *process;
}

inline std::shared_ptr<Process> start(Manager& manager, Program program, Request request = {}) {
  request.program = "program";
  manager.add("program", std::move(program));
  return start(manager, std::move(request));
}

inline Outcome finish(Process& process) {
  auto outcome = process.wait();
  EXPECT_TRUE(outcome.has_value());
  return std::move(*outcome);
}

struct Ran {
  Outcome outcome;
  std::string out;
  std::string err;
  std::vector<Event> events;
};

inline Ran read_to_end(EventStream events) {
  Ran ran;
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::out) ran.out += event->data.view();
    if (event->kind == Event::Kind::err) ran.err += event->data.view();
    if (event->kind == Event::Kind::exit) ran.outcome = *event->outcome;
    ran.events.push_back(std::move(*event));
  }
  return ran;
}

// Starts, reads everything, waits.
inline Ran run(Manager& manager, Program program, Request request = {}) {
  const auto process = start(manager, std::move(program), std::move(request));
  return read_to_end(process->events());
}
inline Ran run(Program program, Request request = {}) {
  Manager manager;
  return run(manager, std::move(program), std::move(request));
}

inline Request with_limits(Limits limits) {
  Request request;
  request.limits = limits;
  return request;
}

}  // namespace cordon::memory
