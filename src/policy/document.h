// One policy file, read: its ceiling, the files it includes and its profiles. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "policy/ceiling.h"
#include "policy/read_parts.h"

namespace cordon::policy {

struct Document {
  Ceiling ceiling{};
  Texts includes{};
  std::map<std::string, Ceiling> profiles{};
};

// JSON if the name ends in ".json", else TOML. Errors: invalid_argument, "FILE:LINE:COLUMN: …".
[[nodiscard]] Result<Document> read_document(std::string_view text, const std::string& file,
                                             const PathContext& context);

}  // namespace cordon::policy
