// A private directory of the host for each run of runsc: its bundle, its state, its log.
//
// Named after the supervisor, as control groups are, so that another one can tell a leftover.
#pragma once

#include <string>

#include "cordon/error.h"

namespace cordon::gvisor_backend {

class RunDirectory {
 public:
  // Below directory_of_runs(). Errors of the OS.
  [[nodiscard]] static Result<RunDirectory> make();
  // In a directory that somebody else made, and removes.
  [[nodiscard]] static Result<RunDirectory> use(const std::string& directory);
  RunDirectory() = default;
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&& other) noexcept;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string bundle() const { return path_ + "/bundle"; }
  [[nodiscard]] std::string state() const { return path_ + "/state"; }
  [[nodiscard]] std::string log() const { return path_ + "/log"; }
  // Its name: unique on this host, and so good for what runsc names by it.
  [[nodiscard]] std::string name() const { return path_.substr(path_.rfind('/') + 1); }
  [[nodiscard]] bool empty() const { return path_.empty(); }

 private:
  explicit RunDirectory(std::string path, bool removes)
      : path_(std::move(path)), removes_(removes) {}
  std::string path_;
  bool removes_ = true;
};

// Where they are: root's below /run/cordon, a user's in the runtime directory or else in /tmp. Made
// if it is missing. Error: not_permitted, if somebody else could have made it.
[[nodiscard]] Result<std::string> directory_of_runs();

// Removes the directories of supervisors that are dead. Returns how many.
std::size_t sweep_runs();

}  // namespace cordon::gvisor_backend
