#include "gvisor/harness.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "backend/gvisor/gvisor_engine.h"

namespace cordon::gvisor_tests {

namespace fs = std::filesystem;

void GvisorTest::SetUp() {
  auto made = gvisor_backend::gvisor_engine();
  if (!made) CORDON_SKIP_WITHOUT("gvisor", made.error().message);
  engine_ = std::move(*made);
  std::string name = (fs::temp_directory_path() / "cordon_gvisor_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  root_ = name;
}

void GvisorTest::TearDown() {
  engine_.reset();
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

void GvisorTest::renew_engine() {
  auto made = gvisor_backend::gvisor_engine();
  ASSERT_TRUE(made) << made.error().message;
  engine_ = std::move(*made);
}

Request GvisorTest::script(std::string text) {
  Request request;
  request.program = "sh";
  request.args = {"-c", std::move(text)};
  request.cwd = "/usr";
  request.out = Output::events({.mode = OutputMode::line});
  request.timeout = std::chrono::minutes(2);
  request.grace = std::chrono::seconds(1);
  return request;
}

Request GvisorTest::counter() {
  return script("i=0; while :; do i=$((i+1)); echo $i > /tmp/n; echo $i; sleep 0.05; done");
}

supervise::ContainerSpec GvisorTest::spec(Request request, std::string sandbox_id) {
  const fs::path state = root_ / ("state" + std::to_string(++states_));
  fs::create_directory(state);
  fs::permissions(state, fs::perms::owner_all);
  return {.sandbox_id = std::move(sandbox_id),
          .container_id = "c" + std::to_string(states_),
          .request = std::move(request),
          .state = state};
}

std::unique_ptr<supervise::Container> GvisorTest::create(Request request) {
  auto made = engine_->create(spec(std::move(request)));
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(*made);
}

GvisorTest::Ran GvisorTest::exec(supervise::Container& container, const std::string& text) {
  auto process = container.inside().create(script(text));
  if (!process) {
    ADD_FAILURE() << process.error().message;
    return {};
  }
  EventStream events = (*process)->events();
  if (auto started = (*process)->start(); !started) {
    ADD_FAILURE() << started.error().message;
    return {};
  }
  Ran ran;
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::out) ran.out += std::string(event->data.view()) + "\n";
    if (event->kind == Event::Kind::exit) ran.outcome = *event->outcome;
  }
  return ran;
}

std::string GvisorTest::next_line(EventStream& events) {
  while (auto event = events.next()) {
    if (event->kind == Event::Kind::out) return std::string(event->data.view());
  }
  return {};
}

std::vector<std::string> GvisorTest::processes() const { return processes_with(root_.string()); }

std::vector<std::string> processes_with(const std::string& text) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename().string();
    if (!std::ranges::all_of(pid, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::string line;
    std::getline(file, line);  // a process that ends meanwhile is no error
    std::ranges::replace(line, '\0', ' ');
    if (line.find(text) != std::string::npos) found.push_back(pid + ": " + line);
  }
  return found;
}

}  // namespace cordon::gvisor_tests
