// Where the pool of a user is: a directory of the user's alone, with a socket and a lock in it.
//
// For root /run/cordon/pool, for others $XDG_RUNTIME_DIR/cordon/pool; no sandbox sees either (see
// plan/grants.h). Root's XDG_RUNTIME_DIR counts, too, if the directory is root's alone: then nobody
// else can have put it there. The directory is opened once and looked at; all that follows goes
// through that descriptor, so that nothing can be exchanged behind it.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app::pool {

class Place {
 public:
  // The directory is made if it is not there. Errors: not_found (no XDG_RUNTIME_DIR), not_permitted
  // (the directory is not the caller's alone), system.
  [[nodiscard]] static Result<Place> make();
  // Only if it is there. Errors: as above; not_found also without one.
  [[nodiscard]] static Result<Place> find();

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

  base::Fd directory_;
  std::string path_;
};

}  // namespace cordon::app::pool
