// A configuration file as a tree of values that know their places. TOML and JSON are read into the
// same tree (read_toml.h, read_json.h), so that everything behind it is written once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/place.h"

namespace cordon::policy {

struct Member;

struct Node {
  enum class Kind : std::uint8_t { table, array, text, integer, real, boolean, other };
  Kind kind = Kind::table;
  Place place{};
  std::string text{};           // text
  std::int64_t integer = 0;     // integer
  double real = 0;              // real
  bool boolean = false;         // boolean
  std::vector<Node> items{};    // array
  std::vector<Member> members;  // table, in the order of the file where that is known
};

struct Member {
  std::string name{};
  Node value{};
};

// "a table", "a list", "a text" …
[[nodiscard]] std::string_view name_of(Node::Kind kind);

// The most of each that a file may have. What reads trees may recurse.
inline constexpr std::size_t kMostBytes = 1024 * 1024;
inline constexpr std::size_t kMostDepth = 32;

}  // namespace cordon::policy
