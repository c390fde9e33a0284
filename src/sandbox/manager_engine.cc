#include "sandbox/manager_engine.h"

#include <string>
#include <utility>

#include "backend/memory/memory_process.h"
#include "base/errors.h"
#include "sandbox/inside_processes.h"
#include "sandbox/sandbox_id.h"
#include "sandbox/simulated_image.h"

namespace cordon::sandbox {
namespace {

using base::fail;
using supervise::CheckpointAsk;
using supervise::Container;
using supervise::ContainerSpec;

class ManagerContainer final : public Container {
 public:
  // `main` runs.
  ManagerContainer(std::shared_ptr<Process> main, std::shared_ptr<InsideProcesses> inside,
                   ContainerSpec spec)
      : main_(std::move(main)), inside_(std::move(inside)), spec_(std::move(spec)) {}
  ~ManagerContainer() override { end(); }
  ManagerContainer(const ManagerContainer&) = delete;
  ManagerContainer& operator=(const ManagerContainer&) = delete;

  [[nodiscard]] std::shared_ptr<Process> main() override { return main_; }
  [[nodiscard]] Manager& inside() override { return *inside_; }
  [[nodiscard]] std::string broken() const override { return {}; }

  [[nodiscard]] Result<void> checkpoint(const CheckpointAsk& ask) override {
    if (!main_->running()) {
      return fail(ErrorCode::wrong_state, "checkpoint", "the main program has ended");
    }
    const auto name = new_container_id();
    if (!name) return std::unexpected(name.error());
    if (auto* const scripted = dynamic_cast<memory::MemoryProcess*>(main_.get())) {
      if (auto remembered = scripted->remember(*name); !remembered) return remembered;
    }
    if (auto written =
            write_image(ask.image, {spec_.sandbox_id, spec_.request}, *name, ask.progress);
        !written) {
      return written;
    }
    if (!ask.leave_running) end();
    return {};
  }

 private:
  void end() {
    inside_->close();
    (void)main_->kill();
  }

  const std::shared_ptr<Process> main_;
  const std::shared_ptr<InsideProcesses> inside_;
  const ContainerSpec spec_;
};

class ManagerEngine final : public supervise::Engine {
 public:
  explicit ManagerEngine(Manager& manager) : manager_(manager) {}

  [[nodiscard]] std::string_view name() const override { return "memory"; }
  [[nodiscard]] std::string no_checkpoint() const override { return {}; }

  [[nodiscard]] Result<std::unique_ptr<Container>> create(ContainerSpec spec) override {
    return start(std::move(spec), {});
  }

  [[nodiscard]] Result<std::unique_ptr<Container>> restore(
      ContainerSpec spec, const std::filesystem::path& image) override {
    auto name = read_image(image, {spec.sandbox_id, spec.request});
    if (!name) return std::unexpected(std::move(name.error()));
    return start(std::move(spec), *name);
  }

 private:
  // `image`: what main goes on from; empty: the beginning.
  [[nodiscard]] Result<std::unique_ptr<Container>> start(ContainerSpec spec,
                                                         const std::string& image) {
    if (const std::string backend = manager_.capabilities().backend; backend != "memory") {
      return fail(ErrorCode::unsupported, "create",
                  "cannot create a sandbox on a manager of backend " + backend +
                      ": each process would be a sandbox of its own; use Sandbox::make() with "
                      "SandboxOptions, or a memory::Manager in tests");
    }
    auto main = manager_.create(spec.request);
    if (!main) return std::unexpected(std::move(main.error()));
    auto* const scripted = dynamic_cast<memory::MemoryProcess*>(main->get());
    auto started = scripted != nullptr ? scripted->start_from(image) : (*main)->start();
    if (!started) return std::unexpected(std::move(started.error()));
    auto inside = std::make_shared<InsideProcesses>(manager_, spec.request);
    // Any other kind of process is looked at when it is asked for.
    if (scripted != nullptr) {
      scripted->when_ended([weak = std::weak_ptr(inside)] {
        if (const auto processes = weak.lock()) processes->close();
      });
    }
    return std::make_unique<ManagerContainer>(*std::move(main), std::move(inside), std::move(spec));
  }

  Manager& manager_;
};

}  // namespace

std::unique_ptr<supervise::Engine> make_manager_engine(Manager& manager) {
  return std::make_unique<ManagerEngine>(manager);
}

}  // namespace cordon::sandbox
