// Where the value of a secret comes from. Pure: nothing is read here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/secret.h"

namespace cordon::secrets {

struct Source {
  enum class Kind : std::uint8_t { file, variable, descriptor, command };
  Kind kind = Kind::file;
  std::string place{};              // file: its path; variable: its name
  int descriptor = -1;              // descriptor
  std::vector<std::string> argv{};  // command: the program and its arguments, for no shell

  friend bool operator==(const Source&, const Source&) = default;
};

// "file:PATH", "env:NAME", "fd:N", "command:PROGRAM ARG…" (words separated by blanks, or a JSON
// array of strings: command:["pass","show","my key"]). Error: invalid_argument. As a value may have
// been written where a source belongs, no message has a part of `text`.
[[nodiscard]] Result<Source> parse_source(std::string_view text);

// For messages: "file:PATH", "env:NAME", "fd:N"; of a command the program's name only.
[[nodiscard]] std::string describe(const Source& source);

// A secret that is asked for.
struct Ask {
  std::string name{};
  Source source{};
  Secret::Delivery delivery = Secret::Delivery::env;
};

// "env", "fd", "file". Error: invalid_argument.
[[nodiscard]] Result<Secret::Delivery> parse_delivery(std::string_view text);

}  // namespace cordon::secrets
