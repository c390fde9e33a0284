#include "sandbox_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/clock.h"
#include "cordon/version.h"
#include "sandbox_messages.h"
#include "workdir/directory_reader.h"
#include "workdir/remove_tree.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
constexpr const char* kRecord = "record";
constexpr const char* kNewRecord = "record.new";
constexpr std::string_view kGone = ".gone-";  // no name of a sandbox begins with a dot
constexpr Duration kRemoval = std::chrono::minutes(5);
constexpr std::size_t kLongestRecord = std::size_t{16} * 1024 * 1024;
// Who only looks holds a lock for a moment, too, and so does who is being killed: neither is taken
// for a supervisor.
constexpr Duration kPause = std::chrono::milliseconds(10);
constexpr Duration kLooks = std::chrono::seconds(5);
constexpr Duration kAnswers = std::chrono::milliseconds(500);

std::unexpected<Error> no_such(const std::string& name) {
  return base::fail(ErrorCode::not_found, kStage,
                    concat("there is no sandbox '", name, "': see 'cordon sandbox ls'"));
}

std::unexpected<Error> taken(const std::string& name, const Result<Record>& record) {
  const std::string state = record ? concat(", which is ", to_string(record->state)) : "";
  return base::fail(ErrorCode::wrong_state, kStage,
                    concat("there is a sandbox '", name, "' already", state,
                           ": take another name, or remove it by 'cordon sandbox rm ", name, "'"));
}

// Whether there is a supervisor who is not just ending: one that is being killed may hold its lock
// for a moment after everything inside is gone.
bool answers(const service::Place& place) {
  auto socket = place.connect();
  if (!socket) return false;
  Channel channel(*std::move(socket));
  if (!channel.send(Kind::hello, Hello{.version = std::string(version())}, kAnswers)) return false;
  if (!channel.send(Kind::list, Nothing{}, kAnswers)) return false;
  const auto answer = channel.receive(kAnswers);
  return answer || answer.error().code == ErrorCode::timed_out;  // busy, or about to begin
}

// What is left when a supervisor has died, under its lock; nothing: it lives.
std::optional<base::Fd> await_death(const Entry& entry) {
  const TimePoint until = real_clock().now() + kLooks;
  while (!answers(entry.place()) && real_clock().now() < until) {
    auto lock = entry.lock();
    if (!lock) return std::nullopt;  // somebody else has swept it
    if (*lock) return *std::move(lock);
    real_clock().sleep_until(real_clock().now() + kPause);
  }
  return std::nullopt;
}

Result<service::Place> place_of_all(bool create) {
  const std::array<std::string, 1> names = {"sandboxes"};
  return create ? service::Place::make("sandbox", names) : service::Place::find("sandbox", names);
}

std::optional<std::string> read_file(int directory, const char* name) {
  const base::Fd file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 16 * 1024> buffer;  // NOLINT(*-member-init): filled by the call
  while (text.size() <= kLongestRecord) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

Result<void> remove_directory(int parent, const std::string& name, const std::string& path) {
  const base::Fd directory(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == ENOENT) return {};
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", path));
  const workdir::Deadline deadline{.clock = real_clock(), .at = real_clock().now() + kRemoval};
  auto emptied = workdir::empty_directory(directory.get(), path, deadline);
  if (!emptied) return emptied;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return base::fail_os(kStage, errno, concat("removing ", path));
  }
  return {};
}

}  // namespace

bool at_rest(SandboxState state) {
  return state == SandboxState::stopped || state == SandboxState::checkpointed ||
         state == SandboxState::failed;
}

bool Entry::current() const {
  const auto all = place_of_all(false);
  if (!all) return false;
  struct stat named{};
  struct stat ours{};
  return ::fstatat(all->directory(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(place_.directory(), &ours) == 0 && named.st_ino == ours.st_ino &&
         named.st_dev == ours.st_dev;
}

Result<std::optional<base::Fd>> Entry::lock() const {
  auto locked = place_.lock();
  if (locked && *locked && !current()) return no_such(name_);
  return locked;
}

Result<Record> Entry::read() const {
  const auto text = read_file(place_.directory(), kRecord);
  if (!text && errno == ENOENT) return no_such(name_);
  if (!text) return base::fail_os(kStage, errno, concat("reading ", path(), "/", kRecord));
  auto record = parse_record(*text);
  if (!record) {
    return base::fail(ErrorCode::system, kStage,
                      concat(path(), "/", kRecord, " is damaged: remove the sandbox by 'cordon ",
                             "sandbox rm ", name_, "'"));
  }
  return *std::move(record);
}

Result<void> Entry::write(const Record& record) const {
  const base::Fd file(::openat(place_.directory(), kNewRecord,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_os(kStage, errno, concat("writing ", path(), "/", kRecord));
  if (auto written = write_all(file.get(), to_json(record) + '\n'); !written) return written;
  if (::renameat(place_.directory(), kNewRecord, place_.directory(), kRecord) != 0) {
    return base::fail_os(kStage, errno, concat("replacing ", path(), "/", kRecord));
  }
  return {};
}

Result<void> Entry::remove() const {
  const auto all = place_of_all(false);
  if (!all) return std::unexpected(all.error());
  struct stat ours{};
  if (::fstat(place_.directory(), &ours) != 0) return base::fail_os(kStage, errno, "looking");
  const std::string gone = concat(kGone, std::to_string(ours.st_ino), "-", name_);
  if (::renameat(all->directory(), name_.c_str(), all->directory(), gone.c_str()) != 0) {
    return base::fail_os(kStage, errno, concat("removing ", path()));
  }
  return remove_directory(all->directory(), gone, concat(all->path(), "/", gone));
}

Result<Entry> find_entry(const std::string& name) {
  if (const auto valid = validate_sandbox_id(name); !valid) return std::unexpected(valid.error());
  const std::array<std::string, 2> names = {"sandboxes", name};
  auto place = service::Place::find("sandbox", names);
  if (!place && place.error().os_error == ENOENT) return no_such(name);
  if (!place) return std::unexpected(std::move(place.error()));
  return Entry(name, *std::move(place));
}

Result<Entry> make_entry(const std::string& name) {
  if (const auto valid = validate_sandbox_id(name); !valid) return std::unexpected(valid.error());
  const std::array<std::string, 2> names = {"sandboxes", name};
  auto place = service::Place::make("sandbox", names);
  if (!place) return std::unexpected(std::move(place.error()));
  return Entry(name, *std::move(place));
}

Result<Claim> claim(const std::string& name, const std::vector<SandboxState>& replaces) {
  const TimePoint since = real_clock().now();
  while (true) {
    auto entry = make_entry(name);
    if (!entry) return std::unexpected(std::move(entry.error()));
    auto lock = entry->lock();
    if (!lock && lock.error().code == ErrorCode::not_found) continue;  // it is being removed
    if (!lock) return std::unexpected(std::move(lock.error()));
    auto record = entry->read();
    if (!record && record.error().code != ErrorCode::not_found && !*lock) {
      return std::unexpected(std::move(record.error()));
    }
    if (!*lock) {
      const bool alive = record && !at_rest(record->state) && answers(entry->place());
      if (alive || real_clock().now() - since > kLooks) return taken(name, record);
      real_clock().sleep_until(real_clock().now() + kPause);
      continue;
    }
    if (!record && record.error().code == ErrorCode::not_found) {
      return Claim{.entry = *std::move(entry), .lock = **std::move(lock)};
    }
    const bool replaced = record && std::ranges::find(replaces, record->state) != replaces.end();
    if (record && at_rest(record->state) && !replaced) return taken(name, record);
    // Another one takes its place, in a directory of its own.
    if (auto removed = entry->remove(); !removed) return std::unexpected(removed.error());
    if (!replaced) continue;
    auto fresh = make_entry(name);
    if (!fresh) return std::unexpected(std::move(fresh.error()));
    auto fresh_lock = fresh->lock();
    if (!fresh_lock || !*fresh_lock) continue;
    return Claim{
        .entry = *std::move(fresh), .lock = **std::move(fresh_lock), .before = *std::move(record)};
  }
}

Result<Found> look(const std::string& name) {
  auto entry = find_entry(name);
  if (!entry) return std::unexpected(std::move(entry.error()));
  auto lock = entry->lock();
  if (!lock) return std::unexpected(std::move(lock.error()));
  auto record = entry->read();
  if (!record) return std::unexpected(std::move(record.error()));
  if (*lock && !at_rest(record->state)) {
    (void)entry->remove();
    return base::fail(ErrorCode::system, kStage,
                      concat("the supervisor of '", name,
                             "' has died, and everything inside with it: create it again"));
  }
  return Found{.record = *std::move(record), .supervised = !*lock};
}

Result<std::vector<Found>> list_and_sweep() {
  const auto all = place_of_all(false);
  if (!all && all.error().os_error == ENOENT) return std::vector<Found>{};
  if (!all) return std::unexpected(all.error());
  std::vector<std::string> names;
  std::vector<std::string> gone;
  workdir::DirectoryReader reader(all->directory());
  while (const auto entry = reader.next()) {
    const std::string name = entry->name;
    if (validate_sandbox_id(name)) names.push_back(name);
    if (name.starts_with(kGone)) gone.push_back(name);
  }
  if (reader.error() != 0) {
    return base::fail_os(kStage, reader.error(), concat("reading ", all->path()));
  }
  for (const std::string& name : gone) {
    (void)remove_directory(all->directory(), name, concat(all->path(), "/", name));
  }
  std::ranges::sort(names);
  std::vector<Found> found;
  for (const std::string& name : names) {
    auto entry = find_entry(name);
    if (!entry) continue;
    auto lock = entry->lock();
    if (!lock) continue;
    auto record = entry->read();
    if (!*lock && record && !at_rest(record->state)) {
      *lock = await_death(*entry);
      if (*lock) record = entry->read();  // it may have come to its end in order
    }
    if (*lock && (!record || !at_rest(record->state))) {
      // Nobody's: its supervisor died, or whoever wanted to make it.
      if (record || record.error().code == ErrorCode::not_found) (void)entry->remove();
      continue;
    }
    if (record) found.push_back({.record = *std::move(record), .supervised = !*lock});
  }
  return found;
}

}  // namespace cordon::app::sandbox
