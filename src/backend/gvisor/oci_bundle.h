// What runsc is told: a bundle of the Open Container Initiative, made from the same plan that the
// linux backend carries out. Pure, but for write_bundle().
//
// gVisor makes /dev and /proc itself. What the host shows is mounted from there; what is made for
// the sandbox (links, files such as /etc/passwd, the places to mount at) is in the bundle's root.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/gvisor/command.h"
#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/isolation.h"
#include "cordon/limits.h"
#include "plan/sandbox_plan.h"

namespace cordon::gvisor_backend {

// A view of the plan, as the host has it.
struct BundleView {
  plan::View view;
  bool directory = true;  // bind: it is one
  // bind: what was opened there (O_PATH); null: nobody has
  std::shared_ptr<const base::Fd> source{};
};

// A program inside, the main one or another.
struct BundleProcess {
  std::vector<std::string> argv{};
  std::vector<std::string> environment{};  // "NAME=value"
  std::string cwd{};
  User user{};  // inside
  Limits limits{};
  bool terminal = false;
};

struct Bundle {
  BundleProcess process{};
  std::vector<BundleView> views{};
  // What is shown is what was opened, whatever has become of its name: runsc is told of places in
  // the bundle, at which that is mounted.
  bool pinned = false;
  bool filter = false;  // system calls that would leave setuid files on the host are refused
};

// For `runsc exec --process`, and part of the next.
[[nodiscard]] std::string process_text(const BundleProcess& process);
// config.json. What is bound comes from places in the directory `sources`, by the number of its
// view; empty: from where it is on the host.
[[nodiscard]] std::string config_text(const Bundle& bundle, const std::string& sources = {});

// What cannot be mounted without changing the host: a place below something of the host's that has
// no such file there. Error: invalid_argument.
[[nodiscard]] Result<void> check_places(const std::vector<BundleView>& views);

// Writes config.json, the root and the places for what is pinned into `directory`, which exists and
// is empty. Errors of the OS.
[[nodiscard]] Result<void> write_bundle(const std::string& directory, const Bundle& bundle);
// What is to be mounted for runsc when it has been written. Errors of the OS.
[[nodiscard]] Result<std::vector<Mount>> pinned_mounts(const std::string& directory,
                                                       const Bundle& bundle);

}  // namespace cordon::gvisor_backend
