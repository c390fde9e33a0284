#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "message.h"
#include "sandbox_client.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {
namespace {

// For a supervisor that is ending already.
constexpr Duration kEnding = std::chrono::seconds(30);
constexpr Duration kPause = std::chrono::milliseconds(10);

std::string json_of(const std::string& name) {
  const auto found = look(name);
  return found ? to_json(found->record) + '\n' : std::string();
}

// Nobody supervises it any more, and nobody will while the result is held.
Result<base::Fd> await_lock(const Entry& entry) {
  const TimePoint until = real_clock().now() + kEnding;
  while (true) {
    auto lock = entry.lock();
    if (!lock) return std::unexpected(std::move(lock.error()));
    if (*lock) return **std::move(lock);
    if (real_clock().now() >= until) {
      return base::fail(ErrorCode::timed_out, "sandbox",
                        concat("the supervisor of '", entry.name(),
                               "' has not ended in time: see 'cordon sandbox ls' for its process"));
    }
    real_clock().sleep_until(real_clock().now() + kPause);
  }
}

// Ends everything inside, and removes what is kept. Errors: not_found, it is not there.
Result<void> remove(const std::string& name) {
  auto entry = find_entry(name);
  if (!entry) return std::unexpected(std::move(entry.error()));
  auto lock = entry->lock();
  if (!lock) return std::unexpected(std::move(lock.error()));
  if (!*lock) {
    if (auto channel = reach(name, "rm")) {
      auto removed = ask(*channel, Kind::remove, Nothing{}, kEnding, true);
      // Whether it was told or has gone by itself: the lock says when nothing is left.
      if (!removed && removed.error().code != ErrorCode::system) return removed;
    }
    auto waited = await_lock(*entry);
    if (!waited && waited.error().code == ErrorCode::not_found) return {};
    if (!waited) return std::unexpected(std::move(waited.error()));
    lock = std::optional<base::Fd>(*std::move(waited));
  }
  return entry->remove();
}

}  // namespace

int stop_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--grace", "--json", "--help"}};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  const auto found = look(line->name);
  if (!found) return failed(found.error());
  const bool over = !found->supervised && found->record.state == SandboxState::stopped;
  if (!over) {
    const Duration grace = line->run.request.grace;
    auto channel = reach(line->name, "stop");
    if (!channel) return failed(channel.error());
    const auto stopped = ask(*channel, Kind::stop, Stop{.grace = grace}, grace + kEnding, true);
    if (!stopped) return failed(stopped.error());
  }
  return line->json ? print(json_of(line->name)) : 0;
}

int rm_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {}, .own = {"--json", "--help"}};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  const auto removed = remove(line->name);
  const bool was_there = removed || removed.error().code != ErrorCode::not_found;
  if (!removed && was_there) return failed(removed.error());
  if (line->json) {
    return print(concat(R"({"schema":"cordon.sandbox.rm/1","name":")", line->name,
                        R"(","removed":)", was_there ? "true" : "false", "}\n"));
  }
  if (!was_there) complain(concat("there was no sandbox '", line->name, "'"));
  return 0;
}

}  // namespace cordon::app::sandbox
