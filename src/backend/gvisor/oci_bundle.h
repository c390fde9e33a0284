// What runsc is told: a bundle of the Open Container Initiative, made from the same plan that the
// linux backend carries out. Pure, but for write_bundle().
//
// gVisor makes /dev and /proc itself. What the host shows is mounted from there; what is made for
// the sandbox (links, files such as /etc/passwd, the places to mount at) is in the bundle's root.
#pragma once

#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/isolation.h"
#include "cordon/limits.h"
#include "plan/sandbox_plan.h"

namespace cordon::gvisor_backend {

// A view of the plan, as the host has it.
struct BundleView {
  plan::View view;
  bool directory = true;  // bind: it is one
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
  bool filter = false;  // system calls that would leave setuid files on the host are refused
};

// For `runsc exec --process`, and part of the next.
[[nodiscard]] std::string process_text(const BundleProcess& process);
// config.json.
[[nodiscard]] std::string config_text(const Bundle& bundle);

// What cannot be mounted without changing the host: a place below something of the host's that has
// no such file there. Error: invalid_argument.
[[nodiscard]] Result<void> check_places(const std::vector<BundleView>& views);

// Writes config.json and the root into `directory`, which exists and is empty. Errors of the OS.
[[nodiscard]] Result<void> write_bundle(const std::string& directory, const Bundle& bundle);

}  // namespace cordon::gvisor_backend
