#include "conformance/world.h"

#include <filesystem>
#include <utility>

#include "support/inside_manager.h"
#include "support/must_work.h"
#include "support/warm_manager.h"

namespace cordon::conformance {

namespace {

Result<std::unique_ptr<Manager>> make_inside() {
  Request like;
  like.cwd = CORDON_TEST_PROGRAMS_DIR;
  like.grants = {Grant::read(CORDON_TEST_PROGRAMS_DIR)};
  return support::OneInside::make(like);
}

}  // namespace

std::vector<Backend> all_backends() {
  return {
      {"memory", make_memory_world},
      {"posix", [] { return make_posix_world(true); }},
      {"posix_without_pidfd", [] { return make_posix_world(false); }},
      {"linux", [] { return make_linux_world(linux_manager()); }},
      {"gvisor", [] { return make_linux_world(gvisor_manager()); }, std::chrono::seconds(1), false},
      {"linux_warm", [] { return make_linux_world(support::WarmManager::make()); }},
      {"linux_reuse", [] { return make_linux_world(support::WarmManager::make_reusing()); }},
      {"linux_inside", [] { return make_linux_world(make_inside()); }},
  };
}

void Conformance::SetUp() {
  auto made = GetParam().make();
  if (!made) {
    const bool needs_groups = made.error().stage == "cgroup";
    const std::string area = GetParam().name.starts_with("linux") ? "linux" : GetParam().name;
    CORDON_SKIP_WITHOUT(needs_groups ? "cgroup" : area, made.error().message);
  }
  world_ = std::move(*made);
  // A sandboxed program sees the working directory: let it be theirs.
  std::filesystem::current_path(CORDON_TEST_PROGRAMS_DIR);
}

std::shared_ptr<Process> Conformance::create(Request request) {
  auto process = manager().create(std::move(request));
  if (!process) {
    ADD_FAILURE() << process.error().message;
    std::abort();
  }
  return *process;
}

std::shared_ptr<Process> Conformance::start(Request request) {
  auto process = create(std::move(request));
  if (auto started = process->start(); !started) ADD_FAILURE() << started.error().message;
  return process;
}

Conformance::Started Conformance::start_until_ready(Request request) {
  request.out = Output::events({.mode = OutputMode::line});
  auto process = create(std::move(request));
  EventStream events = process->events();
  if (auto started = process->start(); !started) ADD_FAILURE() << started.error().message;
  while (auto event = events.next()) {
    if (event->data.view() == "ready") return {process, std::move(events)};
  }
  ADD_FAILURE() << "the program ended before it was ready";
  return {process, std::move(events)};
}

Collected collect(EventStream& events) {
  Collected all;
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::out) all.out += event->data.view();
    if (event->kind == Event::Kind::err) all.err += event->data.view();
    if (event->kind == Event::Kind::exit) all.outcome = event->outcome;
    all.events.push_back(std::move(*event));
  }
  return all;
}

}  // namespace cordon::conformance
