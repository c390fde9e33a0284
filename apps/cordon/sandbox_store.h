// The sandboxes of a user on disk: a directory for each, below the user's own place (see
// service_place.h), so that no sandbox sees them.
//
//   NAME/lock     held by the supervisor for life: without it, nobody supervises this sandbox
//   NAME/socket   of the supervisor
//   NAME/record   what is known about it, replaced as a whole with every change
//   NAME/state/   what the engine keeps
//   NAME/logs/    the output of each program, once the supervisor has ended
//
// Nothing is ever judged by a pid. A directory that is to go is renamed first, under its lock: who
// waited for the lock sees that the name means something else now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"
#include "sandbox_record.h"
#include "service_place.h"

namespace cordon::app::sandbox {

// One sandbox's directory.
class Entry {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& path() const { return place_.path(); }
  [[nodiscard]] const service::Place& place() const { return place_; }

  // Whether nobody supervises it, and who holds the result nobody will. Nothing: somebody does.
  [[nodiscard]] Result<std::optional<base::Fd>> lock() const;

  // Error: not_found; system (not a record).
  [[nodiscard]] Result<Record> read() const;
  // The holder of the lock alone.
  [[nodiscard]] Result<void> write(const Record& record) const;

  // For the holder of the lock: nothing of it is left, or the error says what.
  [[nodiscard]] Result<void> remove() const;

 private:
  friend Result<Entry> find_entry(const std::string& name);
  friend Result<Entry> make_entry(const std::string& name);
  Entry(std::string name, service::Place place)
      : name_(std::move(name)), place_(std::move(place)) {}
  // Whether its name still means this directory.
  [[nodiscard]] bool current() const;

  std::string name_;
  service::Place place_;
};

// Errors: invalid_argument (no name of a sandbox), not_found, those of the place.
[[nodiscard]] Result<Entry> find_entry(const std::string& name);
// The same, made if it is missing.
[[nodiscard]] Result<Entry> make_entry(const std::string& name);

// A name that is the caller's from now on. Error: wrong_state, a sandbox has it already and
// `replaces` does not name its state.
struct Claim {
  Entry entry;
  base::Fd lock;
  std::optional<Record> before{};  // of the one that had the name
};
[[nodiscard]] Result<Claim> claim(const std::string& name,
                                  const std::vector<SandboxState>& replaces);

// A sandbox as it is now.
struct Found {
  Record record;
  bool supervised = false;
};
// Error: not_found; system, when its supervisor has died: it is gone then, too.
[[nodiscard]] Result<Found> look(const std::string& name);
// All of them, by name. What a supervisor that died has left is removed.
[[nodiscard]] Result<std::vector<Found>> list_and_sweep();

// Whether what is recorded can be so without a supervisor.
[[nodiscard]] bool at_rest(SandboxState state);

}  // namespace cordon::app::sandbox
