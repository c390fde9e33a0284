// Rewriting a client's file so that its servers run under Cordon, and back. Only the bytes of
// "command" and the beginning of "args" are changed: comments, order and spelling stay. What was
// there before is kept in the arguments themselves, so that the way back needs nothing but the file
// as it is then. Pure.
//
//   "command": "npx",           "args": [              "-y", "server"]
//   "command": "/…/cordon",     "args": ["mcp", "run", "--wrapped", "args", …, "--", "npx", "-y",
//   "server"]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::mcp {

struct WrapAsk {
  std::string cordon{};                    // the command, absolute
  std::vector<std::string> names{};        // of servers; empty: all
  std::vector<std::string> run_options{};  // of `cordon mcp run`
};

// These bytes of the old text become that one.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
};

struct ServerChange {
  enum class Kind : std::uint8_t { changed, already, unfit };
  std::string name{};
  Kind kind = Kind::changed;
  std::string note{};  // why it is not changed, or what to look after
};

struct Rewritten {
  std::vector<TextEdit> edits{};  // in order; empty: nothing is to be changed
  std::vector<ServerChange> servers{};
};

// Errors: invalid_argument (not such a file; says where), not_found (a name; says which there are).
[[nodiscard]] Result<Rewritten> wrap_config(std::string_view text, std::string_view file,
                                            const WrapAsk& ask);
// For what wrap_config() has written. A server that has been changed so that the way back is not
// clear is `unfit`.
[[nodiscard]] Result<Rewritten> unwrap_config(std::string_view text, std::string_view file,
                                              const std::vector<std::string>& names);

[[nodiscard]] std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits);
// The lines that change, as a unified diff without context.
[[nodiscard]] std::string diff_of(std::string_view text, const std::vector<TextEdit>& edits,
                                  std::string_view file);

}  // namespace cordon::mcp
