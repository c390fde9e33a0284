// What writing and repairing the log share.
#pragma once

#include <cstdint>
#include <string>

#include "cordon/error.h"

namespace cordon::audit {

// Up to `size` bytes from `offset` on; fewer at the end of the file. `path` is for the message.
[[nodiscard]] Result<std::string> read_from(int fd, std::uint64_t offset, std::uint64_t size,
                                            const std::string& path);

// The log is not as its writers left it: nothing is added to it, for that would cover it up.
[[nodiscard]] std::unexpected<Error> tampered(const std::string& message);

}  // namespace cordon::audit
