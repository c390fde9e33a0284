#include <csignal>
#include <string>
#include <utility>

#include "conformance/world.h"
#include "cordon/memory.h"

namespace cordon::conformance {
namespace {

class MemoryWorld final : public World {
 public:
  using Program = memory::Program;

  Manager& manager() override { return manager_; }
  Request exits(int code) override { return script(Program().exit(code)); }
  Request dies(int signal) override { return script(Program().die(signal)); }
  Request writes(std::string out, std::string err) override {
    return script(Program().out(std::move(out)).err(std::move(err)));
  }
  Request echoes() override { return script(Program().echo()); }
  Request hangs() override { return script(Program().out("ready\n").hang()); }
  Request ignores_term() override {
    return script(Program().ignore(SIGTERM).out("ready\n").hang());
  }
  Request catches_term(int code) override {
    return script(Program().on_signal(SIGTERM, code).out("ready\n").hang());
  }
  Request stops_itself() override {
    // A signal to itself: the script's own process, by its fake pid.
    return script(Program().out("ready\n").step([this](memory::Self& self) {
      for (const auto& process : manager_.list()) {
        if (process->os_pid() == self.pid()) (void)process->signal(SIGSTOP);
      }
    }));
  }
  Request closes_stdin() override { return script(Program().close_stdin().out("ready\n").hang()); }
  Request stubborn_tree() override {
    return script(
        Program().ignore(SIGTERM).fork(Program().hang()).out("child 2\n").out("ready\n").hang());
  }
  Request leaves_child() override {
    return script(Program().fork(Program().ignore(SIGTERM).hang()).out("child 2\n").exit(0));
  }
  Request floods() override { return script(Program().fork(Program().flood_err()).flood()); }
  Request writes_blob(std::uint64_t bytes) override {
    return script(Program().out(std::string(bytes, 'x')));
  }
  Request burns_cpu() override { return script(Program().use_cpu(std::chrono::hours(1))); }
  Request writes_file(std::uint64_t bytes) override { return script(Program().write_file(bytes)); }
  Request allocates(std::uint64_t bytes) override { return script(Program().use_memory(bytes)); }

 private:
  Request script(Program program) {
    const std::string name = "program" + std::to_string(++count_);
    manager_.add(name, std::move(program));
    return {.program = name};
  }

  memory::Manager manager_;
  int count_ = 0;
};

}  // namespace

Result<std::unique_ptr<World>> make_memory_world() { return std::make_unique<MemoryWorld>(); }

}  // namespace cordon::conformance
