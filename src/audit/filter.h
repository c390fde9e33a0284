// Which records somebody wants to see. Pure, but for the glob.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::audit {

// A record as it is shown: what is missing in it is empty.
struct Seen {
  std::uint64_t sequence = 0;
  std::string time{};
  std::string operation{};
  std::string run{};
  std::int64_t uid = 0;
  std::int64_t pid = 0;
  std::string program{};
  std::string detail{};
  std::string verdict{};  // of its outcome
};
// Empty: the line is no record.
[[nodiscard]] std::optional<Seen> read_record(std::string_view line);

// Every part that is set must hold.
struct Filter {
  std::string run{};        // how its id begins
  std::string verdict{};    // "timeout"
  std::string program{};    // a glob
  std::string since{};      // as time_text() writes it; included
  std::string until{};      // not included
  std::string operation{};  // "exit"

  [[nodiscard]] bool matches(const Seen& record) const;
  [[nodiscard]] bool any() const;
};

[[nodiscard]] bool glob_matches(const std::string& glob, const std::string& text);

}  // namespace cordon::audit
