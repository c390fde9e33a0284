#include <unistd.h>

#include <utility>

#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "sandbox_client.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_verbs.h"
#include "terminal.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

// An image is as large as the memory of what is inside: without a word for so long, it is stuck.
constexpr Duration kSilence = std::chrono::minutes(30);
constexpr std::uint64_t kMegabyte = std::uint64_t{1024} * 1024;

void show(std::uint64_t bytes) {
  (void)write_all(STDERR_FILENO,
                  concat("\r", std::to_string(bytes / kMegabyte), " MB written\x1b[K"));
}

Result<void> follow(Channel& channel, bool shown, bool ends) {
  while (true) {
    auto message = channel.receive(kSilence);
    if (!message) return std::unexpected(std::move(message.error()));
    if (message->kind == Kind::refused) {
      auto error = from_bytes<Error>(message->bytes);
      return std::unexpected(error ? *std::move(error) : Error{});
    }
    if (message->kind == Kind::progress) {
      const auto progress = from_bytes<Progress>(message->bytes);
      if (shown && progress) show(progress->bytes);
      continue;
    }
    if (message->kind != Kind::done) {
      return std::unexpected(
          Error{ErrorCode::system, "sandbox", 0, "the sandbox has given an answer of no meaning"});
    }
    // A supervisor that ends closes the connection when nothing of it is left.
    if (ends) (void)channel.receive(kAnswer);
    return {};
  }
}

}  // namespace

int checkpoint_verb(std::vector<std::string> arguments) {
  const Grammar grammar{
      .run_options = {}, .own = {"--leave-running", "--quiet", "--json", "--help"}, .operands = 1};
  const auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  if (line->operands.empty()) {
    return usage_error("checkpoint needs a directory for the image", kSandboxHelp);
  }
  const auto image = parse_path(line->operands.front());
  if (!image) return usage_error(image.error().message, kSandboxHelp);
  auto channel = reach(line->name, "checkpoint");
  if (!channel) return failed(channel.error());
  auto asked = channel->send(
      Kind::checkpoint, Checkpoint{.image = *image, .leave_running = line->leave_running}, kAnswer);
  if (!asked && asked.error().code != ErrorCode::closed) return failed(asked.error());
  const bool shown = !line->quiet && is_terminal(STDERR_FILENO);
  const auto written = follow(*channel, shown, !line->leave_running);
  if (shown) (void)write_all(STDERR_FILENO, "\r\x1b[K");
  if (!written) return failed(written.error());
  if (!line->json) return print(concat(*image, "\n"));
  const auto found = look(line->name);
  return found ? print(to_json(found->record) + '\n') : failed(found.error());
}

}  // namespace cordon::app::sandbox
