// Secrets on their way to a program: in files that exist in memory only and cannot be changed, so
// that no process in between has to hold the bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/locked_bytes.h"
#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::posix {

// These bytes, one after the other, behind a descriptor that stands at their beginning.
[[nodiscard]] Result<base::Fd> sealed_file(std::span<const std::string_view> parts);

// One file for each secret that is delivered by descriptor, in order.
[[nodiscard]] Result<std::vector<base::Fd>> secret_descriptors(const Request& request);

// "NAME=value" and a NUL for each secret that is delivered by variable.
[[nodiscard]] Result<std::vector<base::LockedBytes>> secret_variables(const Request& request);

// What tells the program where it finds the others: "NAME_FD=3", "NAME_FILE=/run/secrets/NAME".
// Descriptors are numbered from `first_descriptor` on.
[[nodiscard]] std::vector<std::string> secret_places(const Request& request, int first_descriptor);

}  // namespace cordon::posix
