// Paths as text. Links are not followed here: who gives paths to the evaluator has resolved them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cordon::policy {

// "/a//b/./c/" → "/a/b/c"; nothing if it is not absolute or has "..".
[[nodiscard]] std::optional<std::string> normal_path(std::string_view path);
// Whether `path` is `top` or below it. Both normal.
[[nodiscard]] bool at_or_below(std::string_view path, std::string_view top);
// Where a sandbox always shows the host's files, and where programs and libraries are found.
[[nodiscard]] bool is_system_place(std::string_view path);

}  // namespace cordon::policy
