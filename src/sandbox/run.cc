#include "cordon/run.h"

#include <algorithm>
#include <utility>

#include "outcome/decide.h"

namespace cordon {
namespace {

Outcome not_started(Manager& manager, ProcessId id, Error error) {
  error.message = "failed to start process: " + error.message;
  const Capabilities capabilities = manager.capabilities();
  return outcome::failed_to_start(id, capabilities.backend, capabilities.enforcement,
                                  std::move(error));
}

}  // namespace

Outcome run(Manager& manager, Request request, std::size_t capture) {
  auto process = manager.create(std::move(request));
  if (!process) return not_started(manager, 0, std::move(process.error()));

  std::string kept[2];
  bool truncated = false;
  EventStream events = (*process)->events();
  if (auto started = (*process)->start(); !started) {
    return not_started(manager, (*process)->id(), std::move(started.error()));
  }
  std::shared_ptr<const Outcome> ended;
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::exit) {
      ended = std::move(event->outcome);
      continue;
    }
    std::string& stream = kept[event->kind == Event::Kind::out ? 0 : 1];
    const std::size_t room = capture - std::min(capture, stream.size());
    stream += event->data.view().substr(0, room);
    truncated |= event->data.size() > room;
  }
  Outcome outcome = *ended;
  outcome.out = std::move(kept[0]);
  outcome.err = std::move(kept[1]);
  outcome.output_truncated |= truncated;
  return outcome;
}

Outcome run(Request request) {
  auto manager = os_manager();
  if (!manager) {
    Error error = std::move(manager.error());
    error.message = "failed to start process: " + error.message;
    return outcome::failed_to_start(0, "none", {}, std::move(error));
  }
  return run(**manager, std::move(request));
}

Outcome run(std::string program, std::vector<std::string> args) {
  Request request;
  request.program = std::move(program);
  request.args = std::move(args);
  return run(std::move(request));
}

}  // namespace cordon
