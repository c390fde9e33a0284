#include "sandbox_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "workdir/directory_reader.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
constexpr const char* kLogs = "logs";
// Of programs that have ended.
constexpr std::size_t kMostEnded = 256;
constexpr std::uint64_t kMostOfEnded = std::uint64_t{16} * 1024 * 1024;

// In a root of its own, what the sandbox says of variables counts for more than what the caller of
// `exec` happens to have: its PATH leads to places of the host.
void furnish(Request& request, std::size_t given, const Request& main) {
  if (main.root.empty()) return;
  for (const EnvVar& variable : main.env) {
    const auto is_it = [&](const EnvVar& one) { return one.name == variable.name; };
    const auto usual =
        request.env.begin() + static_cast<std::ptrdiff_t>(std::min(given, request.env.size()));
    if (std::any_of(request.env.begin(), usual, is_it)) continue;
    request.env.erase(std::remove_if(usual, request.env.end(), is_it), request.env.end());
    request.env.push_back(variable);
  }
}

std::vector<std::string> command_of(const Request& request) {
  std::vector<std::string> command = {request.program};
  command.insert(command.end(), request.args.begin(), request.args.end());
  return command;
}

Row row_of(const Kept& kept) {
  const Status status = kept.status();
  const auto outcome = kept.outcome();
  return {.process = kept.about().number,
          .command = kept.about().command,
          .running = !outcome,
          .started = status.start_time ? status.start_time->time_since_epoch().count() : 0,
          .pid = status.os_pid,
          .memory = status.memory_bytes,
          .attached = static_cast<std::uint32_t>(kept.attached.load()),
          .output = kept.transcript().written(),
          .dropped = kept.transcript().dropped(),
          .outcome = outcome ? to_json(*outcome) : std::string()};
}

Result<void> save_one(int directory, const std::string& name, Kept& kept) {
  SavedLog log{.row = row_of(kept)};
  auto reader = kept.transcript().read({});
  while (true) {
    auto entry = reader.next_for(Duration{0});
    if (!entry || !*entry) break;
    const Event& event = (*entry)->event;
    if (event.kind == Event::Kind::exit) continue;
    log.output.push_back({.err = event.kind == Event::Kind::err,
                          .dropped = (*entry)->missed,
                          .data = event.data.str()});
  }
  const base::Fd file(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return base::fail_os(kStage, errno, concat("writing the log ", name));
  return write_all(file.get(), to_bytes(std::move(log)));
}

std::optional<std::string> read_whole(int directory, const char* name) {
  const base::Fd file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 64 * 1024> buffer;  // NOLINT(*-member-init): filled by the call
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<void> Programs::add_main() try {
  std::shared_ptr<Process> process = sandbox_.main();
  if (!process) return base::fail(ErrorCode::system, kStage, "there is no main program");
  const Request& request = sandbox_.request();
  EventStream events = process->events();
  auto kept = std::make_shared<Kept>(std::move(process), std::move(events),
                                     Kept::About{.number = 0,
                                                 .relayed = request.in.kind == Input::Kind::pipe,
                                                 .terminal = request.terminal.has_value(),
                                                 .command = command_of(request)},
                                     main_ended_);
  const std::lock_guard lock(mutex_);
  main_ = std::move(kept);
  return {};
} catch (const std::system_error& error) {
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    concat("no thread for the main program: ", error.what()));
}

Result<std::shared_ptr<Kept>> Programs::execute(Exec ask, int in) try {
  Request& request = ask.request;
  const std::string& home = sandbox_.request().cwd;
  if (request.cwd.empty()) {
    request.cwd = home;
  } else if (!request.cwd.starts_with('/')) {
    request.cwd = concat(home, "/", request.cwd);
  }
  furnish(request, ask.given, sandbox_.request());
  request.timeout = ask.timeout;
  request.grace = ask.grace;
  if (ask.terminal)
    request.terminal = {.rows = ask.terminal->rows, .columns = ask.terminal->columns};
  if (ask.relayed) {
    request.in = Input::pipe();
  } else {
    request.in = in >= 0 ? Input::from_fd(in) : Input::none();
  }
  request.out = cordon::Output::events();
  request.err = cordon::Output::events();
  Kept::About about{.number = ++last_,
                    .relayed = ask.relayed,
                    .terminal = request.terminal.has_value(),
                    .command = command_of(request)};
  auto created = sandbox_.manager().create(std::move(request));
  if (!created) return std::unexpected(std::move(created.error()));
  EventStream events = (*created)->events();
  if (auto started = (*created)->start(); !started) {
    return std::unexpected(std::move(started.error()));
  }
  auto kept = std::make_shared<Kept>(*created, std::move(events), std::move(about), [] {});
  const std::lock_guard lock(mutex_);
  executed_.push_back(kept);
  forget_old();
  return kept;
} catch (const std::system_error& error) {
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    concat("no thread for another program: ", error.what()));
}

void Programs::forget_old() {
  std::size_t ended = 0;
  std::uint64_t bytes = 0;
  // The newest first.
  for (std::size_t i = executed_.size(); i-- > 0;) {
    if (!executed_[i]->outcome()) continue;
    bytes += executed_[i]->transcript().written() - executed_[i]->transcript().dropped();
    if (++ended > kMostEnded || bytes > kMostOfEnded) {
      executed_.erase(executed_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

Result<std::shared_ptr<Kept>> Programs::find(ProcessId process) const {
  const std::lock_guard lock(mutex_);
  if (main_ && process == 0) return main_;
  for (const auto& kept : executed_) {
    if (kept->about().number == process) return kept;
  }
  return base::fail(
      ErrorCode::not_found, kStage,
      concat("there is no process ", std::to_string(process), " in '", sandbox_.sandbox_id(),
             "': see 'cordon sandbox ps ", sandbox_.sandbox_id(), "'"));
}

std::vector<Row> Programs::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<Row> rows;
  if (main_) rows.push_back(row_of(*main_));
  for (const auto& kept : executed_) rows.push_back(row_of(*kept));
  return rows;
}

Result<void> Programs::save(const Entry& entry) const {
  const std::lock_guard lock(mutex_);
  if (::mkdirat(entry.place().directory(), kLogs, 0700) != 0 && errno != EEXIST) {
    return base::fail_os(kStage, errno, concat("making ", entry.path(), "/", kLogs));
  }
  const base::Fd directory(
      ::openat(entry.place().directory(), kLogs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", entry.path(), "/logs"));
  if (main_) {
    if (auto saved = save_one(directory.get(), "0", *main_); !saved) return saved;
  }
  for (const auto& kept : executed_) {
    auto saved = save_one(directory.get(), std::to_string(kept->about().number), *kept);
    if (!saved) return saved;
  }
  return {};
}

Result<std::vector<SavedLog>> read_logs(const Entry& entry) {
  std::vector<SavedLog> logs;
  const base::Fd directory(
      ::openat(entry.place().directory(), kLogs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == ENOENT) return logs;
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", entry.path(), "/logs"));
  workdir::DirectoryReader reader(directory.get());
  while (const auto file = reader.next()) {
    const auto bytes = read_whole(directory.get(), file->name);
    auto log = bytes ? from_bytes<SavedLog>(*bytes) : std::nullopt;
    if (!log) {
      return base::fail(ErrorCode::system, kStage,
                        concat(entry.path(), "/logs/", file->name, " is damaged"));
    }
    logs.push_back(*std::move(log));
  }
  std::ranges::sort(logs, {}, [](const SavedLog& log) { return log.row.process; });
  return logs;
}

}  // namespace cordon::app::sandbox
