#include "cordon/sandbox.h"

#include <utility>

namespace cordon {

Sandbox::Sandbox(Manager& manager, Request request)
    : manager_(&manager), request_(std::move(request)) {}

Result<Sandbox> Sandbox::make(Request request) {
  Request complete = request;
  if (complete.program.empty()) complete.program = "named later";
  if (auto valid = validate(complete); !valid) return std::unexpected(std::move(valid.error()));
  auto manager = os_manager();
  if (!manager) return std::unexpected(std::move(manager.error()));
  Sandbox sandbox(**manager, std::move(request));
  sandbox.own_ = std::move(*manager);
  return sandbox;
}

Outcome Sandbox::run() { return cordon::run(*manager_, request_); }

Outcome Sandbox::execute(std::string program, std::vector<std::string> args) {
  Request request = request_;
  request.program = std::move(program);
  request.args = std::move(args);
  return cordon::run(*manager_, std::move(request));
}

}  // namespace cordon
