// Sandbox: a description of how programs are to be run, and a way to run them.
//
// The one-shot case: each run is isolated afresh, ends, and leaves nothing behind. A Sandbox may be
// used for any number of runs, one after another or, through different objects, at the same time.
// One object belongs to one thread at a time; a run is cancelled from another one by
// `Request::cancel`. Destroying it is all the cleaning up there is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/request.h"
#include "cordon/run.h"

namespace cordon {

class Sandbox {
 public:
  // On a Manager of the caller's, which has to outlive the sandbox: a memory::Manager in tests.
  Sandbox(Manager& manager, Request request);

  // On an os_manager() of its own. Errors: those of os_manager(), and those of validate() for
  // everything but the program, which may still be missing.
  [[nodiscard]] static Result<Sandbox> make(Request request = {});

  // Runs the request's program. Never fails; see cordon::run().
  [[nodiscard]] Outcome run();
  // Runs this one instead, under the same request.
  [[nodiscard]] Outcome execute(std::string program, std::vector<std::string> args = {});

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] Manager& manager() { return *manager_; }

 private:
  std::unique_ptr<Manager> own_;
  Manager* manager_;
  Request request_;
};

}  // namespace cordon
