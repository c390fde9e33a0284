// Where a value of a policy, a manifest or a request was written. Every value keeps its place, so
// that a refusal can name both sides: who asked and who decided.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cordon::policy {

struct Place {
  std::string file{};        // or an option such as "--memory"; empty: built in
  std::uint32_t line = 0;    // 0: the whole of it
  std::uint32_t column = 0;  // only in errors about the text itself

  friend bool operator==(const Place&, const Place&) = default;
};

// "site.toml:12", "--memory", "built in".
[[nodiscard]] std::string to_string(const Place& place);
// With the column: "site.toml:12:3".
[[nodiscard]] std::string exactly(const Place& place);

template <typename T>
struct Placed {
  T value{};
  Place place{};
};

}  // namespace cordon::policy
