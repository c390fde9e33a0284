// JSON text as a tree, with the lines that a JSON library does not keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "policy/node.h"

namespace cordon::policy {

// As read_toml(). A name that an object has twice is an error; null is Node::Kind::other. `line` is
// where the text begins in its file.
[[nodiscard]] Result<Node> read_json(std::string_view text, const std::string& file,
                                     std::uint32_t line = 1);

}  // namespace cordon::policy
