// What the command says about itself: one line on stderr, beginning "cordon: ".
#pragma once

#include <string_view>

namespace cordon::app {

inline constexpr int kOwnFailure = 125;  // bad usage, or the command itself could not go on

// Writes "cordon: `text`" on stderr. A stderr that cannot be written to is not our problem.
void complain(std::string_view text);

// The same, but never waits: says nothing and returns false where nobody reads stderr, and cuts a
// long text.
[[nodiscard]] bool complain_unless_held_up(std::string_view text);

// complain() with a pointer to `help_command`, e.g. "cordon run --help". Returns kOwnFailure.
[[nodiscard]] int usage_error(std::string_view text, std::string_view help_command);

// Writes `text` on stdout. Returns the exit status: 0, or kOwnFailure (said on stderr) when it
// cannot be written.
[[nodiscard]] int print(std::string_view text);

}  // namespace cordon::app
