// Where a service of a user is: a directory of the user's alone, with a socket and a lock in it.
//
// For root below /run/cordon, for others below $XDG_RUNTIME_DIR/cordon; no sandbox sees either (see
// plan/grants.h). Root's XDG_RUNTIME_DIR counts, too, if the directory is root's alone: then nobody
// else can have put it there. The directory is opened once and looked at; all that follows goes
// through that descriptor, so that nothing can be exchanged behind it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app::service {

class Place {
 public:
  // `names` below Cordon's own directory, for a `what` ("pool"); each is made if it is not there.
  // Errors: not_found (no XDG_RUNTIME_DIR), not_permitted (a directory is not the caller's alone),
  // system.
  [[nodiscard]] static Result<Place> make(std::string_view what,
                                          std::span<const std::string> names);
  // Only if it is there. Errors: as above; not_found also without one.
  [[nodiscard]] static Result<Place> find(std::string_view what,
                                          std::span<const std::string> names);

  [[nodiscard]] int directory() const { return directory_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Who holds it is the service, until it ends. Nothing: somebody else is.
  [[nodiscard]] Result<std::optional<base::Fd>> lock() const;
  // For the holder of the lock: replaces what a dead service left.
  [[nodiscard]] Result<base::Fd> listen() const;
  void remove_socket() const;

  // To a service of the same user. Error: not_found, when none listens.
  [[nodiscard]] Result<base::Fd> connect() const;

 private:
  Place(base::Fd directory, std::string path)
      : directory_(std::move(directory)), path_(std::move(path)) {}
  [[nodiscard]] static Result<Place> open(std::string_view what, std::span<const std::string> names,
                                          bool create);

  base::Fd directory_;
  std::string path_;
};

}  // namespace cordon::app::service
