// A backend as the conformance suite sees it: a Manager, and a request for each behaviour.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cordon/manager.h"

namespace cordon::conformance {

class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual Manager& manager() = 0;

  [[nodiscard]] virtual Request exits(int code) = 0;
  [[nodiscard]] virtual Request dies(int signal) = 0;
  [[nodiscard]] virtual Request writes(std::string out, std::string err) = 0;
  [[nodiscard]] virtual Request echoes() = 0;  // stdin to stdout until end of file
  // These write the line "ready" once they do it.
  [[nodiscard]] virtual Request hangs() = 0;
  [[nodiscard]] virtual Request ignores_term() = 0;
  [[nodiscard]] virtual Request catches_term(int code) = 0;  // SIGTERM makes it exit
  [[nodiscard]] virtual Request stops_itself() = 0;          // SIGSTOP; continued, it exits 0
  [[nodiscard]] virtual Request closes_stdin() = 0;          // then hangs
  [[nodiscard]] virtual Request stubborn_tree() = 0;         // ignores SIGTERM, so does its child

  [[nodiscard]] virtual Request leaves_child() = 0;  // exits 0, its child lives on
  [[nodiscard]] virtual Request floods() = 0;        // stdout and stderr, without end
  [[nodiscard]] virtual Request writes_blob(std::uint64_t bytes) = 0;  // to stdout
  [[nodiscard]] virtual Request burns_cpu() = 0;
  [[nodiscard]] virtual Request writes_file(std::uint64_t bytes) = 0;
  [[nodiscard]] virtual Request allocates(std::uint64_t bytes) = 0;  // not 0 if it cannot
};

struct Backend {
  std::string name;
  std::function<Result<std::unique_ptr<World>>()> make;
  Duration begins{0};         // a program may take so long to begin
  bool tells_closing = true;  // of a stdin that the program itself closes
};
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

// Each test runs on every backend in this list.
[[nodiscard]] std::vector<Backend> all_backends();
[[nodiscard]] Result<std::unique_ptr<World>> make_memory_world();
[[nodiscard]] Result<std::unique_ptr<World>> make_posix_world(bool use_pidfd);
[[nodiscard]] Result<std::unique_ptr<World>> make_linux_world(
    Result<std::unique_ptr<Manager>> manager);

class Conformance : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override;
  [[nodiscard]] World& world() { return *world_; }
  [[nodiscard]] Manager& manager() { return world_->manager(); }
  // A process that was created; a test failure if it could not be.
  [[nodiscard]] std::shared_ptr<Process> create(Request request);
  // … and started.
  [[nodiscard]] std::shared_ptr<Process> start(Request request);
  // … and seen to have written the line "ready". `request.out` must be events.
  struct Started {
    std::shared_ptr<Process> process;
    EventStream events;
  };
  [[nodiscard]] Started start_until_ready(Request request);

 private:
  std::unique_ptr<World> world_;
};

// All that is left in `events`, by kind.
struct Collected {
  std::string out;
  std::string err;
  std::vector<Event> events;
  std::shared_ptr<const Outcome> outcome;
};
[[nodiscard]] Collected collect(EventStream& events);

#define CORDON_CONFORMANCE_SUITE(Suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(::cordon::conformance::all_backends()), \
                           [](const auto& backend) { return backend.param.name; })

}  // namespace cordon::conformance
