// The processes of one server of `cordon mcp serve`: each is admitted, recorded and given a work
// directory as any other run, and its record is closed and its directory removed when it is over.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "admission.h"
#include "call_book.h"
#include "cordon/audit.h"
#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/process.h"
#include "cordon/secret.h"
#include "mcp/gate.h"
#include "mcp_serve_options.h"
#include "policy/policy.h"
#include "recorded_run.h"
#include "workdir_scope.h"

namespace cordon::app {

class ServedChildren {
 public:
  // Finds out whether the server may be run, as far as that can be known before, and reads its
  // secrets; while there is one thread. Error: it may not, and why.
  [[nodiscard]] static Result<std::unique_ptr<ServedChildren>> prepare(ServedProgram program);
  ~ServedChildren();

  // Whether the backend can run it, and find the program. `manager` must outlive this object.
  [[nodiscard]] Result<void> check(Manager& manager);

  // Not yet started. Thread-safe.
  [[nodiscard]] Result<std::shared_ptr<Process>> make();
  // It is over, or was never started. Takes the time that removing a directory takes. Thread-safe.
  void ended(const std::shared_ptr<Process>& process);

  // Which of its tools may be called, and who records it, for one conversation, which must not
  // outlive this object; null: all, and nobody. Thread-safe.
  [[nodiscard]] std::unique_ptr<mcp::Gate> make_gate();

  [[nodiscard]] const std::string& name() const { return program_.name; }
  [[nodiscard]] Backend backend() const { return program_.options.backend; }
  [[nodiscard]] Duration grace() const { return program_.options.request.grace; }
  // When there are no more processes and conversations: whether all that was to be recorded has
  // been.
  [[nodiscard]] bool finish();

 private:
  struct Child;
  ServedChildren(ServedProgram program, policy::Policy policy, audit::Settings audit);

  ServedProgram program_;
  policy::Policy policy_;
  audit::Settings audit_;
  std::vector<Secret> secrets_;
  Manager* manager_ = nullptr;
  // Of calls: a conversation is not with one process alone, and a call that is refused with none.
  std::optional<RecordedRun> record_;
  std::optional<CallBook> calls_;

  std::mutex mutex_;  // of what follows
  std::map<const Process*, std::unique_ptr<Child>> children_;
  bool complete_ = true;
};

}  // namespace cordon::app
