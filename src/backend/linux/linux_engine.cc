#include "backend/linux/linux_engine.h"

#include <string>
#include <utility>

#include "backend/linux/linux_child.h"
#include "backend/linux/nest.h"
#include "base/errors.h"
#include "supervise/supervising_manager.h"

namespace cordon::linux_backend {
namespace {

constexpr std::string_view kNoCheckpoint =
    "the linux engine cannot write the state of running programs down: use gvisor for a sandbox "
    "that is to be checkpointed";

// Programs in a nest: the main one, or the others.
class NestBackend final : public supervise::Backend {
 public:
  NestBackend(std::shared_ptr<Nest> nest, bool is_main)
      : nest_(std::move(nest)), is_main_(is_main) {}

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities all = nest_->backend().capabilities();
    all.gaps.emplace_back(
        "Programs in one long-lived sandbox are not protected from each other: they are one user.");
    return all;
  }
  [[nodiscard]] Result<Plan> plan(const Request& request, const Limits& limits) const override {
    auto plan = nest_->plan_for(request, limits, is_main_);
    if (!plan) return std::unexpected(std::move(plan.error()));
    return plan::describe(**plan);
  }
  [[nodiscard]] Result<std::unique_ptr<supervise::Child>> prepare(const Request& request,
                                                                  const Limits& limits) override {
    auto plan = nest_->plan_for(request, limits, is_main_);
    if (!plan) return std::unexpected(std::move(plan.error()));
    return std::make_unique<LinuxChild>(nest_->backend(), std::move(*plan), nest_, is_main_);
  }

 private:
  const std::shared_ptr<Nest> nest_;
  const bool is_main_;
};

class LinuxContainer final : public supervise::Container {
 public:
  explicit LinuxContainer(std::shared_ptr<Nest> nest)
      : nest_(std::move(nest)),
        mains_(std::make_unique<supervise::SupervisingManager>(
            std::make_unique<NestBackend>(nest_, true))),
        inside_(std::make_unique<supervise::SupervisingManager>(
            std::make_unique<NestBackend>(nest_, false))) {}
  ~LinuxContainer() override {
    nest_->end();
    inside_.reset();
    mains_.reset();
    nest_->close();
  }
  LinuxContainer(const LinuxContainer&) = delete;
  LinuxContainer& operator=(const LinuxContainer&) = delete;

  [[nodiscard]] Result<void> start(Request request) {
    if (auto set = inside_->set_default_limits(request.limits); !set) return set;
    auto main = mains_->create(std::move(request));
    if (!main) return std::unexpected(std::move(main.error()));
    main_ = std::move(*main);
    return main_->start();
  }

  [[nodiscard]] std::shared_ptr<Process> main() override { return main_; }
  [[nodiscard]] Manager& inside() override { return *inside_; }
  [[nodiscard]] Result<void> checkpoint(const supervise::CheckpointAsk& /*ask*/) override {
    return base::fail(ErrorCode::unsupported, "checkpoint", std::string(kNoCheckpoint));
  }
  [[nodiscard]] std::string broken() const override { return nest_->broken(); }

 private:
  const std::shared_ptr<Nest> nest_;
  std::unique_ptr<supervise::SupervisingManager> mains_;
  std::unique_ptr<supervise::SupervisingManager> inside_;
  std::shared_ptr<Process> main_;
};

class LinuxEngine final : public supervise::Engine {
 public:
  explicit LinuxEngine(std::unique_ptr<LinuxBackend> backend)
      : backend_(backend.release(), [](LinuxBackend* ended) {
          ended->retire();
          delete ended;
        }) {}

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] std::string no_checkpoint() const override { return std::string(kNoCheckpoint); }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> create(
      supervise::ContainerSpec spec) override {
    auto nest = Nest::make(backend_, spec.request);
    if (!nest) return std::unexpected(std::move(nest.error()));
    auto container = std::make_unique<LinuxContainer>(std::move(*nest));
    if (auto started = container->start(std::move(spec.request)); !started) {
      return std::unexpected(std::move(started.error()));
    }
    return container;
  }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> restore(
      supervise::ContainerSpec /*spec*/, const std::filesystem::path& /*image*/) override {
    return base::fail(ErrorCode::unsupported, "restore", std::string(kNoCheckpoint));
  }

 private:
  const std::shared_ptr<LinuxBackend> backend_;
};

}  // namespace

Result<std::unique_ptr<supervise::Engine>> make_engine(Weakened weakened) {
  auto backend = LinuxBackend::make(std::move(weakened));
  if (!backend) return std::unexpected(std::move(backend.error()));
  return std::make_unique<LinuxEngine>(std::move(*backend));
}

Result<std::unique_ptr<supervise::Engine>> make_engine() { return make_engine(Weakened{}); }

}  // namespace cordon::linux_backend
