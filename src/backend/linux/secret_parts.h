// A request's secrets, on their way into a sandbox.
//
// Only descriptors of files in memory go through the spawner and the set-up process; the bytes of
// variables reach the program's own memory after it was verified and released, one step before its
// exec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/linux/script_builder.h"
#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::linux_backend {

// Where in a store the bytes of one secret are.
struct SecretRange {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct SecretParts {
  std::vector<base::Fd> descriptors;    // one a secret
  base::Fd variables;                   // "NAME=value" and a NUL, one after the other; empty: none
  std::vector<SecretRange> entries{};   // in `variables`
  base::Fd files;                       // values, one after the other; empty: none
  std::vector<SecretRange> contents{};  // in `files`
};

[[nodiscard]] Result<SecretParts> open_secrets(const Request& request);

// The number of the first descriptor that the program gets; the others follow.
inline constexpr int kFirstSecretFd = spawner::kStatusFd + 1;

// The same as a script knows them.
class SecretSteps {
 public:
  // Sends the descriptors along: after those of the streams, so that none of them has a number that
  // place() gives to another.
  SecretSteps(ScriptBuilder& script, const SecretParts& parts);

  // --- steps of the set-up process ---
  // One file each in the directory that is mounted behind `mount`.
  void write_files(Register mount) const;

  // --- steps of the program ---
  // Gives the descriptors their numbers. Returns the first one behind them.
  [[nodiscard]] int place() const;
  // Maps the variables into the program's memory: to be done when nothing else is left but exec.
  void map_variables() const;
  // Where the variables are going to be.
  [[nodiscard]] std::vector<std::uint64_t> variable_addresses() const;

 private:
  ScriptBuilder& script_;
  const SecretParts& parts_;
  std::vector<int> descriptors_;
  int variables_ = -1;
  int files_ = -1;
};

}  // namespace cordon::linux_backend
