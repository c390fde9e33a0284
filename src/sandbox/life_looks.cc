// Life: looks at the state, and what follows from it.
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "sandbox/life.h"

namespace cordon::sandbox {

std::string Life::container_id() const {
  const std::scoped_lock lock(mutex_);
  return container_id_;
}

SandboxState Life::state() const {
  const std::scoped_lock lock(mutex_);
  look();
  return state_;
}

std::string Life::failure() const {
  const std::scoped_lock lock(mutex_);
  look();
  return failure_;
}

bool Life::untouched() const {
  const std::scoped_lock lock(mutex_);
  return state_ == SandboxState::initialized && removal_ == Removal::none;
}

std::shared_ptr<Process> Life::main() const {
  const std::scoped_lock lock(mutex_);
  return main_;
}

std::vector<std::shared_ptr<Process>> Life::processes() const {
  const std::scoped_lock lock(mutex_);
  return list();
}

std::vector<std::shared_ptr<Process>> Life::list() const {
  if (!container_) return remembered_;
  std::vector<std::shared_ptr<Process>> all = {main_};
  for (auto& process : container_->inside().list()) {
    if (process != main_) all.push_back(std::move(process));
  }
  return all;
}

std::unique_ptr<supervise::Container> Life::take_container() {
  if (container_) remembered_ = list();
  return std::move(container_);
}

void Life::look() const {
  if (state_ != SandboxState::running || !container_) return;
  // In this order: an engine that takes the main program with it has said so before that ended.
  const bool ended = !main_->running();
  if (std::string broken = container_->broken(); !broken.empty()) {
    state_ = effect(Operation::engine_breaks, state_).success;
    failure_ = std::move(broken);
  } else if (ended) {
    state_ = effect(Operation::main_ends, state_).success;
  }
}

std::string Life::why() const {
  if (state_ == SandboxState::failed) return failure_;
  if (state_ != SandboxState::stopped || !main_) return {};
  const auto outcome = main_->outcome();
  if (!outcome) return {};
  if (outcome->exit_code) {
    return "its main program exited with " + std::to_string(*outcome->exit_code);
  }
  return "its main program ended: " + std::string(to_string(outcome->verdict));
}

Result<void> Life::check(Operation operation) const {
  look();
  if (removal_ != Removal::none) {
    return base::fail(ErrorCode::wrong_state, to_string(operation),
                      "sandbox " + base::printable(id_) +
                          (removal_ == Removal::done ? " was removed: " : " is being removed: ") +
                          std::string(to_string(operation)) +
                          " is not possible; make a new one to go on");
  }
  if (effect(operation, state_).kind == Effect::Kind::refused) {
    return std::unexpected(refusal(operation, state_, id_, why()));
  }
  const bool again = operation == Operation::stop;
  if (stopping_ && state_ == SandboxState::running && !again) {
    return base::fail(ErrorCode::wrong_state, to_string(operation),
                      "sandbox " + base::printable(id_) +
                          " is being stopped: " + std::string(to_string(operation)) +
                          " is not possible; possible now: stop, remove, ls, ps, logs");
  }
  return {};
}

Error Life::waits_for_itself(Operation operation) const {
  return {.code = ErrorCode::wrong_state,
          .stage = std::string(to_string(operation)),
          .os_error = 0,
          .message = "sandbox " + base::printable(id_) +
                     " is being changed by this very thread: " + std::string(to_string(operation)) +
                     " would wait for itself; call it when that is over"};
}

}  // namespace cordon::sandbox
