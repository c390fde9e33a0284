// One program with many attacks, each of which tries one way out of a sandbox and says how far it
// came: exit status 0, it was reached; 10, it was stopped; 11, the attack itself is at fault.
//
// Every attack proves reach and does no damage: unguarded, it runs on the host.
#pragma once

#include <cerrno>
#include <span>
#include <string_view>

namespace attack {

inline constexpr int kReached = 0;
inline constexpr int kStopped = 10;
inline constexpr int kUntried = 11;

[[noreturn]] void reached(std::string_view what);
[[noreturn]] void stopped(std::string_view what, int error = errno);
[[noreturn]] void untried(std::string_view what, int error = errno);
// By the result of a system call.
[[noreturn]] void judge(std::string_view what, long result);

// Prints the line and sees that it is out.
void say(std::string_view line);
[[noreturn]] void hang();
// Lets the caller have every capability in namespaces of its own, if somebody lets it.
void try_to_gain_capabilities();

using Args = std::span<char* const>;
struct Entry {
  std::string_view name;
  void (*run)(Args args);
  unsigned arguments = 0;  // at least
};

[[nodiscard]] std::span<const Entry> file_attacks();
[[nodiscard]] std::span<const Entry> mode_attacks();
[[nodiscard]] std::span<const Entry> process_attacks();
[[nodiscard]] std::span<const Entry> privilege_attacks();
[[nodiscard]] std::span<const Entry> namespace_attacks();
[[nodiscard]] std::span<const Entry> kernel_attacks();
[[nodiscard]] std::span<const Entry> network_attacks();
[[nodiscard]] std::span<const Entry> resource_attacks();
[[nodiscard]] std::span<const Entry> tree_attacks();

}  // namespace attack
