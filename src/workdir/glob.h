// Patterns for relative paths: "out/*.txt", "**/*.log". Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::workdir {

class Glob {
 public:
  // Error: invalid_argument, for a pattern that is empty, absolute or contains "..".
  [[nodiscard]] static Result<Glob> parse(std::string_view pattern);

  [[nodiscard]] bool matches(const std::vector<std::string>& path) const;
  // Whether something below this directory could match.
  [[nodiscard]] bool leads_into(const std::vector<std::string>& path) const;

 private:
  std::vector<std::string> parts_;  // "**": any number of directories
};

}  // namespace cordon::workdir
