// Finds the program a request names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::posix {

// What the program will see: "NAME=value" entries.
[[nodiscard]] std::vector<std::string> environment_for(const Request& request);

// The PATH in such entries, or else the one that is used without.
[[nodiscard]] std::string_view path_of(std::span<const std::string> environment);

// A name with a slash is returned as it is. Another is looked for in the PATH of `environment`
// ("NAME=value" entries); relative directories in PATH are not searched. Errors: not_found,
// not_executable (a file of that name exists, but may not be executed).
[[nodiscard]] Result<std::string> find_program(const std::string& name,
                                               std::span<const std::string> environment);

// Why the kernel would not execute `path` (as seen from `cwd`), for a person.
[[nodiscard]] Error explain_exec_failure(const std::string& path, const std::string& cwd,
                                         int os_error);

}  // namespace cordon::posix
