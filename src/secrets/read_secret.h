// Reads a value into locked memory, and nowhere else.
#pragma once

#include <functional>

#include "base/locked_bytes.h"
#include "cordon/error.h"

namespace cordon::secrets {

// Everything up to end of file, without one "\n" at its end: editors and commands put it there.
// `ready` is asked before each read and ends it with its error; null: never. Errors:
// invalid_argument (more than a secret may have), else the errno; messages have no name.
[[nodiscard]] Result<base::LockedBytes> read_secret(int fd,
                                                    const std::function<Result<void>()>& ready);

}  // namespace cordon::secrets
