// Which files a run would execute: the program, and for a script its interpreter, and what
// `#!/usr/bin/env` leads to. Found as the run would find them, opened once, and held.
//
// What was looked at is what runs: the request is rewritten to execute the last of them by its real
// path, and each is pinned (Request::pins). What is behind a descriptor can still be changed in
// place by whoever may write to it: files that others than root and the caller can write to are
// refused, and one that changes while it is read.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "policy/evaluate.h"

namespace cordon::execution {

struct CheckedPrograms {
  std::vector<policy::ProgramFile> files{};  // the program first
  std::vector<base::Fd> held{};              // of the pins
  Request request{};                         // to be run instead, with pins
};

inline constexpr int kMostInterpreters = 4;  // scripts that run scripts

// `cwd`: where relative names belong to. `digests`: compute them. `by_name`: there are no pins with
// this backend, so the directories have to be trusted as well. Errors: not_found, not_executable,
// not_permitted (it cannot be told what would be run, or others can write to it).
[[nodiscard]] Result<CheckedPrograms> check_programs(const Request& request, const std::string& cwd,
                                                     bool digests, bool by_name);

// "#!/usr/bin/python3 -u" of a file's beginning; nothing if it is no script. Error: not_permitted,
// a line that the kernel might read otherwise.
struct ScriptLine {
  std::string interpreter{};
  std::string argument{};  // at most one, as the kernel gives it
};
[[nodiscard]] Result<std::optional<ScriptLine>> script_line(std::string_view head);

}  // namespace cordon::execution
