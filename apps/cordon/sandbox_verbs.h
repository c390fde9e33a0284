// The verbs of `cordon sandbox`, one file each. Each takes what follows its name, and returns the
// exit status.
#pragma once

#include <string>
#include <vector>

#include "cordon/error.h"

namespace cordon::app::sandbox {

[[nodiscard]] int create_verb(std::vector<std::string> arguments);
[[nodiscard]] int restore_verb(std::vector<std::string> arguments);
[[nodiscard]] int exec_verb(std::vector<std::string> arguments);
[[nodiscard]] int connect_verb(std::vector<std::string> arguments);
[[nodiscard]] int ps_verb(std::vector<std::string> arguments);
[[nodiscard]] int ls_verb(std::vector<std::string> arguments);
[[nodiscard]] int logs_verb(std::vector<std::string> arguments);
[[nodiscard]] int stop_verb(std::vector<std::string> arguments);
[[nodiscard]] int rm_verb(std::vector<std::string> arguments);
[[nodiscard]] int checkpoint_verb(std::vector<std::string> arguments);
[[nodiscard]] int cp_verb(std::vector<std::string> arguments);

inline constexpr const char* kSandboxHelp = "cordon sandbox --help";

// Complains. There is no such sandbox, or it is not in the state for it: 1; else kOwnFailure.
[[nodiscard]] int failed(const Error& error);

}  // namespace cordon::app::sandbox
