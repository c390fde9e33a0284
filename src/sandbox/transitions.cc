#include "sandbox/transitions.h"

#include <algorithm>

#include "base/printable.h"

namespace cordon::sandbox {
namespace {

using enum SandboxState;

constexpr Effect kRefused{};

constexpr Effect moves(SandboxState success, SandboxState failure) {
  return {.kind = Effect::Kind::done, .success = success, .failure = failure};
}
constexpr Effect moves(SandboxState to) { return moves(to, to); }
constexpr Effect stays(SandboxState in) { return moves(in, in); }
constexpr Effect nothing(SandboxState in) {
  return {.kind = Effect::Kind::nothing, .success = in, .failure = in};
}

constexpr std::array<Effect, kStates> kAnyState = {
    stays(initialized), stays(running), stays(checkpointed), stays(stopped), stays(failed)};
constexpr std::array<Effect, kStates> kOnlyRunning = {kRefused, stays(running), kRefused, kRefused,
                                                      kRefused};

// clang-format off
constexpr std::array<Row, kOperations> kTable = {{
    // operation, name                            initialized             running                          checkpointed       stopped            failed
    {Operation::create, "create",               {moves(running, failed), kRefused,                        kRefused,          kRefused,          kRefused}},
    {Operation::restore, "restore",             {moves(running, failed), kRefused,                        kRefused,          kRefused,          kRefused}},
    {Operation::execute, "execute",             kOnlyRunning},
    {Operation::connect, "connect",             kOnlyRunning},
    {Operation::write_stdin, "write_stdin",     kOnlyRunning},
    {Operation::checkpoint, "checkpoint",       {kRefused,               moves(checkpointed, running),    kRefused,          kRefused,          kRefused}},
    {Operation::checkpoint_leave_running,
                   "checkpoint, leave_running", kOnlyRunning},
    {Operation::stop, "stop",                   {kRefused,               moves(stopped),                  kRefused,          nothing(stopped),  kRefused}},
    {Operation::remove, "remove",               {moves(stopped),         moves(stopped),                  moves(stopped),    moves(stopped),    moves(stopped)}},
    {Operation::ls, "ls",                       kAnyState},
    {Operation::ps, "ps",                       kAnyState},
    {Operation::logs, "logs",                   kAnyState},
    {Operation::main_ends, "end of main",       {kRefused,               moves(stopped),                  kRefused,          kRefused,          kRefused}},
    {Operation::engine_breaks, "engine breaks", {kRefused,               moves(failed),                   kRefused,          kRefused,          kRefused}},
}};
// clang-format on

consteval bool in_order() {
  for (std::size_t row = 0; row < kTable.size(); ++row) {
    if (static_cast<std::size_t>(kTable[row].operation) != row) return false;
  }
  return true;
}
static_assert(in_order(), "a row is found by its operation's number");

}  // namespace

const std::array<Row, kOperations>& table() { return kTable; }

Effect effect(Operation operation, SandboxState state) {
  return kTable[static_cast<std::size_t>(operation)].effects[static_cast<std::size_t>(state)];
}

std::string_view to_string(Operation operation) {
  return kTable[static_cast<std::size_t>(operation)].name;
}

std::string possible_in(SandboxState state) {
  std::string list;
  for (const Row& row : kTable) {
    const bool variant = row.operation == Operation::checkpoint_leave_running;
    if (happens_by_itself(row.operation) || variant) continue;
    if (effect(row.operation, state).kind == Effect::Kind::refused) continue;
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

Error refusal(Operation operation, SandboxState state, std::string_view id, std::string_view why) {
  std::string message = "sandbox " + base::printable(id) + " is ";
  message += to_string(state);
  if (!why.empty()) message += " (" + std::string(why) + ")";
  message += ": ";
  message += to_string(operation);
  message += " is not possible; possible now: " + possible_in(state);
  return {.code = ErrorCode::wrong_state,
          .stage = std::string(to_string(operation)),
          .os_error = 0,
          .message = std::move(message)};
}

}  // namespace cordon::sandbox

namespace cordon {

std::string_view to_string(SandboxState state) {
  constexpr std::array<std::string_view, sandbox::kStates> kNames = {
      "initialized", "running", "checkpointed", "stopped", "failed"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace cordon
