// Gets the values of secrets from where they are kept.
#pragma once

#include <span>
#include <vector>

#include "cordon/error.h"
#include "cordon/secret.h"
#include "secrets/source.h"

namespace cordon::secrets {

// Reads every source once, in order.
//
//   file        a regular file of the caller or root that nobody else may read; no symbolic link
//   env         a variable of this process. It is wiped and taken out of the environment, so that
//               neither /proc/self/environ nor anything that is started later has it: call this
//               while no other thread reads the environment.
//   fd          read to its end, then closed unless it is 0, 1 or 2
//   command     see command_source.h
//
// Except for env, one newline at the end does not count. Errors name the secret and its source,
// never the value; they are of stage "secret": invalid_argument (bad name, empty, too long, open to
// others, a NUL that cannot be delivered), not_found, timed_out, system …
[[nodiscard]] Result<std::vector<Secret>> load(std::span<const Ask> asks);

}  // namespace cordon::secrets
