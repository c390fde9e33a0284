#include "sandbox/life.h"

#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "sandbox/sandbox_id.h"

namespace cordon::sandbox {
namespace {

using base::fail;

constexpr const char* kNothingLeft = "nothing of the sandbox is left";
// For the end of what was killed.
constexpr Duration kEndPatience = std::chrono::seconds(30);

Duration with_patience(Duration grace) {
  return grace < kNoTimeout - kEndPatience ? grace + kEndPatience : kNoTimeout;
}

}  // namespace

Life::Life(std::unique_ptr<supervise::Engine> engine, Request request, std::string id,
           std::filesystem::path state, std::optional<audit::Settings> audit)
    : engine_(std::move(engine)),
      request_(std::move(request)),
      id_(std::move(id)),
      state_directory_(std::move(state)),
      records_(std::move(audit), std::string(engine_->name())) {}

Life::~Life() {
  container_.reset();
  const bool removed = directory_.remove().has_value();
  records_.over(removed ? kNothingLeft : "files of the sandbox are left");
}

// --- Coming to life.

Result<void> Life::create() {
  const Gate::Stay change = gate_.change();
  if (!change) return std::unexpected(waits_for_itself(Operation::create));
  {
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(Operation::create); !possible) return possible;
  }
  return bring_to_life(
      "create", [this](supervise::ContainerSpec spec) { return engine_->create(std::move(spec)); });
}

Result<void> Life::restore(const std::filesystem::path& image) {
  const Gate::Stay change = gate_.change();
  if (!change) return std::unexpected(waits_for_itself(Operation::restore));
  {
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(Operation::restore); !possible) return possible;
  }
  if (std::string cannot = engine_->no_checkpoint(); !cannot.empty()) {
    return fail(ErrorCode::unsupported, "restore",
                "cannot restore sandbox " + base::printable(id_) + ": " + cannot);
  }
  std::error_code unknown;
  if (!std::filesystem::is_directory(image, unknown)) {
    return fail(ErrorCode::not_found, "restore",
                "cannot restore sandbox " + base::printable(id_) + ": there is no directory " +
                    base::printable(image.string()));
  }
  return bring_to_life("restore from " + image.string(),
                       [this, &image](supervise::ContainerSpec spec) {
                         return engine_->restore(std::move(spec), image);
                       });
}

Result<void> Life::bring_to_life(const std::string& how, const Maker& make) {
  if (auto valid = validate_sandbox_id(id_); !valid) return fail_with(std::move(valid.error()));
  auto container_id = new_container_id();
  if (!container_id) return fail_with(std::move(container_id.error()));
  const auto record =
      records_.begin(request_, "sandbox " + id_ + ", container " + *container_id + ": " + how);
  if (!record) return fail_with(record.error());
  if (!state_directory_.empty()) {
    auto directory = LifeDirectory::make(state_directory_, *container_id);
    if (!directory) {
      records_.failed(*record, directory.error());
      return fail_with(std::move(directory.error()));
    }
    directory_ = *std::move(directory);
  }
  {
    const std::scoped_lock lock(mutex_);
    container_id_ = *container_id;
  }
  supervise::ContainerSpec spec{.sandbox_id = id_,
                                .container_id = *std::move(container_id),
                                .request = request_,
                                .state = directory_.path()};
  // It lives until it is stopped, unless somebody says otherwise.
  if (spec.request.timeout == Duration{0}) spec.request.timeout = kNoTimeout;
  auto made = make(std::move(spec));
  if (!made) {
    records_.failed(*record, made.error());
    return fail_with(std::move(made.error()));
  }
  records_.started_main(*record, (*made)->main());
  const std::scoped_lock lock(mutex_);
  container_ = *std::move(made);
  main_ = container_->main();
  state_ = SandboxState::running;
  return {};
}

Result<void> Life::fail_with(Error error) {
  (void)directory_.remove();
  const std::scoped_lock lock(mutex_);
  state_ = SandboxState::failed;
  failure_ = error.message;
  return std::unexpected(std::move(error));
}

// --- Living.

Result<std::shared_ptr<Process>> Life::make_inside(Request request) {
  return add_inside(std::move(request), false);
}

Result<std::shared_ptr<Process>> Life::execute(Request request) {
  return add_inside(std::move(request), true);
}

Result<std::shared_ptr<Process>> Life::add_inside(Request request, bool start) {
  records_.settle();
  Result<std::shared_ptr<Process>> made;
  auto used = with_inside(Operation::execute, [&](Manager& inside) {
    const auto record =
        records_.begin(request, "sandbox " + id_ + ", container " + container_id() + ": execute");
    if (!record) {
      made = std::unexpected(record.error());
      return;
    }
    made = inside.create(request);
    // Ids are unique within one Manager, and the main program may be of another: nobody else in a
    // sandbox has its id. An id is never used again, so the next one is another.
    if (made && (*made)->id() == main()->id()) made = inside.create(std::move(request));
    if (made && start) {
      if (auto started = (*made)->start(); !started) made = std::unexpected(started.error());
    }
    if (made) {
      records_.started(*record, *made);
    } else {
      records_.failed(*record, made.error());
    }
  });
  if (!used) return std::unexpected(std::move(used.error()));
  return made;
}

Result<std::shared_ptr<Process>> Life::connect(ProcessId id) const {
  if (gate_.pass(kNoTimeout) != Gate::Passed::yes) {
    return std::unexpected(waits_for_itself(Operation::connect));
  }
  const std::scoped_lock lock(mutex_);
  if (auto possible = check(Operation::connect); !possible) {
    return std::unexpected(std::move(possible.error()));
  }
  for (auto& process : list()) {
    if (process->id() == id && process->running()) return std::move(process);
  }
  return fail(ErrorCode::not_found, "connect",
              "no process " + std::to_string(id) + " runs in sandbox " + base::printable(id_));
}

Result<std::size_t> Life::write_stdin(std::string_view data, Duration patience) {
  switch (gate_.pass(patience)) {
    case Gate::Passed::timed_out:
      return 0;
    case Gate::Passed::turned_away:
      return std::unexpected(waits_for_itself(Operation::write_stdin));
    case Gate::Passed::yes:
      break;
  }
  std::shared_ptr<Process> main;
  {
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(Operation::write_stdin); !possible) {
      return std::unexpected(std::move(possible.error()));
    }
    main = main_;
  }
  return main->write_stdin(data, patience);  // may take for ever: nobody waits for it
}

Result<void> Life::with_inside(Operation operation,
                               const std::function<void(Manager&)>& use) const {
  const Gate::Stay share = gate_.share();
  if (!share) return std::unexpected(waits_for_itself(operation));
  Manager* inside = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(operation); !possible) return possible;
    inside = &container_->inside();
  }
  use(*inside);
  return {};
}

// --- Ending.

Result<void> Life::checkpoint(const std::filesystem::path& image, CheckpointOptions options) {
  const auto operation =
      options.leave_running ? Operation::checkpoint_leave_running : Operation::checkpoint;
  const Gate::Stay change = gate_.change();
  if (!change) return std::unexpected(waits_for_itself(operation));
  {
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(operation); !possible) return possible;
  }
  if (std::string cannot = engine_->no_checkpoint(); !cannot.empty()) {
    return fail(ErrorCode::unsupported, "checkpoint",
                "cannot checkpoint sandbox " + base::printable(id_) + ": " + cannot);
  }
  if (image.empty()) {
    return fail(ErrorCode::invalid_argument, "checkpoint",
                "cannot checkpoint sandbox " + base::printable(id_) +
                    ": no directory for the image was given");
  }
  records_.settle();
  if (auto noted = records_.note("sandbox " + id_ + ": " + std::string(to_string(operation)) +
                                 " to " + image.string());
      !noted) {
    return noted;
  }
  if (auto made = container_->checkpoint({.image = image,
                                          .leave_running = options.leave_running,
                                          .progress = std::move(options.progress)});
      !made) {
    (void)records_.note("sandbox " + id_ + ": the checkpoint failed: " + made.error().message);
    return made;  // whether it still runs is seen by whoever looks
  }
  if (options.leave_running) return {};
  std::unique_ptr<supervise::Container> over;
  {
    const std::scoped_lock lock(mutex_);
    over = take_container();
    state_ = SandboxState::checkpointed;
  }
  over.reset();
  records_.settle();
  (void)directory_.remove();  // remove() tries again
  return {};
}

Result<void> Life::stop(Duration grace) {
  std::shared_ptr<Process> main;
  {
    const Gate::Stay change = gate_.change();
    if (!change) return std::unexpected(waits_for_itself(Operation::stop));
    const std::scoped_lock lock(mutex_);
    if (auto possible = check(Operation::stop); !possible) return possible;
    if (effect(Operation::stop, state_).kind == Effect::Kind::nothing) return {};
    stopping_ = true;
    main = main_;
  }
  (void)records_.note("sandbox " + id_ + ": stop");  // no record is no reason to let it run
  // Not in the gate: remove() may come and make it short.
  if (auto asked = main->terminate(grace); !asked && main->running()) return asked;
  auto ended = main->wait_for(with_patience(grace));
  if (!ended) return std::unexpected(std::move(ended.error()));
  records_.settle();
  const std::scoped_lock lock(mutex_);
  look();
  if (state_ != SandboxState::failed) return {};
  return fail(ErrorCode::system, "stop",
              "sandbox " + base::printable(id_) + " failed while it was stopped: " + failure_);
}

Result<void> Life::remove() {
  if (gate_.inside()) return std::unexpected(waits_for_itself(Operation::remove));
  {
    const std::scoped_lock lock(mutex_);
    if (removal_ == Removal::done) return {};
    removal_ = Removal::begun;
  }
  const Gate::Stay change = gate_.change();
  (void)records_.note("sandbox " + id_ + ": remove");  // no record is no reason to let it run
  std::unique_ptr<supervise::Container> over;
  {
    const std::scoped_lock lock(mutex_);
    over = take_container();
  }
  over.reset();
  auto removed = directory_.remove();
  records_.over(removed ? kNothingLeft : removed.error().message);
  const std::scoped_lock lock(mutex_);
  state_ = effect(Operation::remove, state_).success;
  failure_.clear();
  if (removed) removal_ = Removal::done;
  return removed;
}

}  // namespace cordon::sandbox
