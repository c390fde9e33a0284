// Absolute paths as text: nothing here looks at a file system, so symlinks are not followed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cordon::base {

// "/a//b/./c/" → "/a/b/c". Nothing if the path is not absolute or has a ".." component: what that
// means depends on symlinks.
[[nodiscard]] std::optional<std::string> normalise(std::string_view path);

// Whether `path` is `top` or below it. Both normalised.
[[nodiscard]] bool at_or_below(std::string_view path, std::string_view top);
[[nodiscard]] bool strictly_below(std::string_view path, std::string_view top);

// An order in which each directory comes before what is in it.
[[nodiscard]] bool mounted_before(std::string_view a, std::string_view b);

// Where programs and libraries are; a sandbox always shows those of the host, read-only, and no
// grant makes them writable.
[[nodiscard]] std::span<const std::string_view> system_directories();
// Whether `path`, normalised, is one of them or below one.
[[nodiscard]] bool in_system_directory(std::string_view path);

}  // namespace cordon::base
