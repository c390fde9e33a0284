// What a parked program is told when it is to run: everything that can differ from one run to the
// next in sandboxes of one kind.
#pragma once

#include <string>
#include <vector>

#include "backend/linux/script_builder.h"
#include "backend/linux/secret_parts.h"
#include "backend/posix/child_side.h"

namespace cordon::linux_backend {

// Borrowed until the letter was sent.
struct Letter {
  const int (&stdio)[3];
  const SecretParts& secrets;
  std::string cwd{};                 // inside; empty: where the sandbox was set up
  bool pinned = false;               // the program is executed by its descriptor
  std::vector<std::string> paths{};  // else: to be tried in this order
  std::vector<std::string> argv{};
  std::vector<std::string> environment{};
  std::vector<posix::RlimitSetting> limits{};  // that may only be set now (program_limits.h)

  // The number behind the last one that the program is given.
  [[nodiscard]] int descriptors() const;
};

void write_letter(ScriptBuilder& script, const Letter& letter);

}  // namespace cordon::linux_backend
