// The table of transitions as docs/sandboxes.md shows it. For tests alone: they compare, and write
// it anew when CORDON_WRITE_DOCS is set.
#pragma once

#include <string>

namespace cordon::sandbox {

[[nodiscard]] std::string as_markdown();
[[nodiscard]] std::string as_svg();

}  // namespace cordon::sandbox
