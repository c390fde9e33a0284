#include "cordon/sandbox.h"

#include <utility>

#include "outcome/decide.h"
#include "sandbox/engines.h"
#include "sandbox/inside_manager.h"
#include "sandbox/life.h"
#include "sandbox/manager_engine.h"
#include "sandbox/transitions.h"

namespace cordon {
namespace {

Result<void> validate_but_for_program(const Request& request) {
  if (!request.program.empty()) return validate(request);
  Request complete = request;
  complete.program = "named later";
  return validate(complete);
}

Result<std::filesystem::path> default_state(const std::string& id) {
  auto cache = default_cache();
  if (!cache) return std::unexpected(std::move(cache.error()));
  return std::filesystem::path(*cache) / "sandboxes" / id;
}

}  // namespace

class Sandbox::Impl {
 public:
  Impl(Manager& given, Request request, std::string id)
      : manager(&given),
        life(sandbox::make_manager_engine(given), std::move(request), std::move(id), {}) {}
  Impl(std::unique_ptr<Manager> own_manager, Request request)
      : own(std::move(own_manager)),
        manager(own.get()),
        life(sandbox::make_manager_engine(*manager), std::move(request), {}, {}) {}
  Impl(std::unique_ptr<supervise::Engine> engine, Request request, SandboxOptions options)
      : life(std::move(engine), std::move(request), std::move(options.id), std::move(options.state),
             std::move(options.audit)) {}

  // Runs go there.
  [[nodiscard]] Manager& place() {
    if (manager != nullptr && life.untouched()) return *manager;
    return inside;
  }

  std::unique_ptr<Manager> own;
  Manager* manager = nullptr;  // null: there is an engine
  sandbox::Life life;
  sandbox::InsideManager inside{life};
};

Sandbox::Sandbox(Manager& manager, Request request)
    : Sandbox(manager, std::move(request), std::string()) {}
Sandbox::Sandbox(Manager& manager, Request request, std::string id)
    : impl_(std::make_unique<Impl>(manager, std::move(request), std::move(id))) {}
Sandbox::Sandbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sandbox::~Sandbox() = default;
Sandbox::Sandbox(Sandbox&&) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&&) noexcept = default;

Result<Sandbox> Sandbox::make(Request request) {
  if (auto valid = validate_but_for_program(request); !valid) {
    return std::unexpected(std::move(valid.error()));
  }
  auto manager = os_manager();
  if (!manager) return std::unexpected(std::move(manager.error()));
  return Sandbox(std::make_unique<Impl>(*std::move(manager), std::move(request)));
}

Result<Sandbox> Sandbox::make(Request request, SandboxOptions options) {
  if (auto valid = validate(request); !valid) return std::unexpected(std::move(valid.error()));
  if (auto valid = validate_sandbox_id(options.id); !valid) {
    return std::unexpected(std::move(valid.error()));
  }
  auto engine = sandbox::make_engine(options.backend);
  if (!engine) return std::unexpected(std::move(engine.error()));
  if (options.state.empty()) {
    auto state = default_state(options.id);
    if (!state) return std::unexpected(std::move(state.error()));
    options.state = *std::move(state);
  }
  return Sandbox(
      std::make_unique<Impl>(*std::move(engine), std::move(request), std::move(options)));
}

Outcome Sandbox::run() {
  if (impl_->life.untouched()) return cordon::run(impl_->place(), request());
  const Capabilities capabilities = manager().capabilities();
  Error error = sandbox::refusal(sandbox::Operation::create, state(), sandbox_id(), failure());
  return outcome::failed_to_start(0, capabilities.backend, capabilities.enforcement,
                                  std::move(error));
}

Outcome Sandbox::execute(std::string program, std::vector<std::string> args) {
  Request request = impl_->life.request();
  request.program = std::move(program);
  request.args = std::move(args);
  return cordon::run(impl_->place(), std::move(request));
}

const std::string& Sandbox::sandbox_id() const { return impl_->life.id(); }
std::string Sandbox::container_id() const { return impl_->life.container_id(); }
SandboxState Sandbox::state() const { return impl_->life.state(); }
std::string Sandbox::failure() const { return impl_->life.failure(); }

Result<void> Sandbox::create() { return impl_->life.create(); }
Result<void> Sandbox::restore(const std::filesystem::path& image) {
  return impl_->life.restore(image);
}
Result<std::shared_ptr<Process>> Sandbox::execute(Request request) {
  return impl_->life.execute(std::move(request));
}
Result<std::shared_ptr<Process>> Sandbox::connect(ProcessId id) { return impl_->life.connect(id); }
Result<std::size_t> Sandbox::write_stdin(std::string_view data, Duration patience) {
  return impl_->life.write_stdin(data, patience);
}
Result<void> Sandbox::checkpoint(const std::filesystem::path& image, CheckpointOptions options) {
  return impl_->life.checkpoint(image, std::move(options));
}
Result<void> Sandbox::stop(Duration grace) { return impl_->life.stop(grace); }
Result<void> Sandbox::remove() { return impl_->life.remove(); }
std::shared_ptr<Process> Sandbox::main() const { return impl_->life.main(); }
std::vector<std::shared_ptr<Process>> Sandbox::processes() const { return impl_->life.processes(); }
const Request& Sandbox::request() const { return impl_->life.request(); }
Manager& Sandbox::manager() { return impl_->manager != nullptr ? *impl_->manager : impl_->inside; }

}  // namespace cordon
