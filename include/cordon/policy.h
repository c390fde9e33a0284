// Policy: what the operators of a machine allow, in files; see docs/policy.md.
//
// A Policy is a value: copy and share it freely between threads. It never changes once it is
// loaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon {

class Policy {
 public:
  // The site's policy (/etc/cordon/policy.toml), if there is one, and these files: all of them hold
  // at once, so none can allow what another refuses. `profile` names a narrower part of them.
  // Errors: invalid_argument, "FILE:LINE:COLUMN: …" (also files that others than root and the
  // caller could change).
  [[nodiscard]] static Result<Policy> load(const std::vector<std::string>& files,
                                           const std::string& profile = "");

  // A request that was allowed. Keep it until its process has ended: the request borrows
  // descriptors of files that were checked (Request::pins), and the run counts as alive
  // (max_processes).
  struct Allowed {
    Request request;
    std::shared_ptr<void> held;
  };

  // `request` with defaults filled in within what is allowed, for a run by `backend` ("linux",
  // "posix"). Error: not_permitted, stage "policy", if it asks for more; the message names both
  // places and what to do.
  [[nodiscard]] Result<Allowed> apply(const Request& request, const std::string& backend) const;

  // SHA-256 of every file that was read, in hexadecimal; empty without any.
  [[nodiscard]] const std::string& digest() const;

 private:
  struct Data;
  explicit Policy(std::shared_ptr<const Data> data);

  std::shared_ptr<const Data> data_;
};

}  // namespace cordon
