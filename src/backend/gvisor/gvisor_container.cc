#include "backend/gvisor/gvisor_container.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "backend/gvisor/gvisor_backend.h"
#include "backend/gvisor/gvisor_plan.h"
#include "base/errors.h"
#include "base/sha256.h"

namespace cordon::gvisor_backend {
namespace {

// What everybody inside has of the host: an image of one sandbox is none of a sandbox that was
// given something else. Variables are the program's own, and in the image.
std::string policy_of(const Bundle& bundle, const plan::SandboxPlan& plan) {
  Bundle shared = bundle;
  shared.process.environment.clear();
  const auto number = [](const auto& value) { return value ? std::to_string(*value) : "none"; };
  return base::to_hex(base::sha256(config_text(shared) + "\n" + number(plan.groups.memory_bytes) +
                                   " " + number(plan.groups.processes) + " " +
                                   number(plan.groups.cpu_millicores)));
}

// The socket of a sandbox is named by it, and has a short name.
std::string unique_id(const supervise::ContainerSpec& spec) {
  static std::atomic<std::uint64_t> number{0};
  constexpr std::size_t kEnough = 32;
  const std::string all = spec.sandbox_id + "\n" + spec.container_id + "\n" + spec.state.string() +
                          "\n" + std::to_string(::getpid()) + "\n" + std::to_string(++number);
  return "cordon-" + base::to_hex(base::sha256(all)).substr(0, kEnough);
}

}  // namespace

Result<std::unique_ptr<supervise::Container>> GvisorContainer::begin(const Runsc& runsc,
                                                                     supervise::ContainerSpec spec,
                                                                     const std::string& image) {
  std::unique_ptr<GvisorContainer> made(new GvisorContainer);
  if (auto started = made->start(runsc, std::move(spec), image); !started) {
    return std::unexpected(std::move(started.error()));
  }
  return made;
}

Result<void> GvisorContainer::start(const Runsc& runsc, supervise::ContainerSpec spec,
                                    const std::string& image) {
  std::shared_ptr<OpenImage> opened;
  if (!image.empty()) {
    auto found = OpenImage::open(image);
    if (!found) return std::unexpected(std::move(found.error()));
    opened = std::make_shared<OpenImage>(*std::move(found));
  }
  std::shared_ptr<Sandbox> sandbox;
  auto backend = GvisorBackend::make(
      runsc, {.directory = spec.state.string(),
              .id = unique_id(spec),
              .image = opened,
              .launched = [&](std::shared_ptr<Sandbox> made) { sandbox = std::move(made); }});
  auto threads = backend->threads();
  if (!threads) return std::unexpected(std::move(threads.error()));
  auto plan = backend->sandbox_plan(spec.request, spec.request.limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  auto bundle = make_bundle(*plan, spec.request, runsc);
  if (!bundle) return std::unexpected(std::move(bundle.error()));
  manifest_ = manifest_here(spec.sandbox_id, policy_of(*bundle, *plan), runsc.version);
  if (opened) {
    if (auto fits = check_fits(opened->manifest(), manifest_); !fits) return fits;
  }

  main_manager_ = std::make_unique<supervise::SupervisingManager>(std::move(backend));
  auto created = main_manager_->create(spec.request);
  if (!created) return std::unexpected(std::move(created.error()));
  main_ = std::move(*created);
  if (auto started = main_->start(); !started) return started;
  if (opened) opened->close();
  inside_ = std::make_shared<Inside>(std::move(sandbox), std::move(spec.request), *std::move(plan),
                                     **threads);
  inside_manager_ =
      std::make_unique<supervise::SupervisingManager>(std::make_unique<ExecBackend>(inside_));
  return {};
}

GvisorContainer::~GvisorContainer() {
  if (inside_) inside_->sandbox->kill();  // and with it everybody inside
  inside_manager_.reset();
  main_.reset();
  main_manager_.reset();
}

std::string GvisorContainer::broken() const {
  {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) return broken_;
  }
  return inside_->sandbox->failure();
}

}  // namespace cordon::gvisor_backend
