// The table of attacks. Each is run twice: in a sandbox, where it must be stopped, and with its
// guards off, where it must succeed. An attack that nobody has seen succeed proves nothing.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cordon/request.h"
#include "escape/bait.h"

namespace cordon::escape {

using Words = std::vector<std::string>;
using Command = std::function<Words(const Bait&)>;
using Change = std::function<void(Request&, const Bait&)>;

inline Command told(Words words) {
  return [words = std::move(words)](const Bait&) { return words; };
}

// How an attack is let through.
struct Unguarded {
  // Steps of the sandbox's set-up that are left out, by name: all those that stop it.
  Words without{};
  // Outside any sandbox, as the caller: for what namespaces guard, since without those no set-up
  // goes on.
  bool no_sandbox = false;
  // The request is changed, for what a request can ask for.
  Change asked{};
  // Another command (with its program) than the attack's own, outside any sandbox.
  Command command{};
  bool needs_root = false;
  // Run by the sandbox's user in the host's own tree, where that user must reach the program.
  bool needs_public_tree = false;
  // Something this kernel may have been built without: then the attack cannot be seen to succeed
  // here. Named by what is missing.
  std::string may_be_missing{};
  // Why it cannot be let through at all.
  std::string never{};
};

struct Attack {
  std::string name;  // by effect: what cannot be done
  Command command;   // arguments of the program `attack`
  Unguarded unguarded;
  Change given{};           // besides the usual grants
  bool needs_root = false;  // of the caller, for the attack itself
  // What it looks for. Where the programs are below that, their working directory shows it.
  std::string looks_for{};
  int landlock_abi = 0;  // an older Landlock does not stop it
};
inline void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

[[nodiscard]] std::vector<Attack> file_attacks();
[[nodiscard]] std::vector<Attack> device_attacks();
[[nodiscard]] std::vector<Attack> mode_attacks();
[[nodiscard]] std::vector<Attack> process_attacks();
[[nodiscard]] std::vector<Attack> privilege_attacks();
[[nodiscard]] std::vector<Attack> namespace_attacks();
[[nodiscard]] std::vector<Attack> kernel_attacks();
[[nodiscard]] std::vector<Attack> network_attacks();
[[nodiscard]] std::vector<Attack> resource_attacks();

[[nodiscard]] std::vector<Attack> all_attacks();

}  // namespace cordon::escape
