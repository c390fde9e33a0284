// A request's secrets, on their way into a sandbox.
//
// Only what is delivered as files goes through the spawner and the set-up process, as the
// descriptor of a file in memory. Everything else reaches the program's process alone, when it was
// verified; the bytes of variables get into its memory one step before its exec.
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

// Whether some are delivered as files: the sandbox is made with them.
[[nodiscard]] bool has_secret_files(const Request& request);

// Secrets as files, for the set-up process.
class SecretFiles {
 public:
  // Sends the descriptor along.
  SecretFiles(ScriptBuilder& script, const SecretParts& parts);
  // One file each in the directory that is mounted behind `mount`.
  void write(Register mount) const;

 private:
  ScriptBuilder& script_;
  const SecretParts& parts_;
  int files_ = -1;
};

// The number of the first descriptor that the program gets; the others follow.
inline constexpr int kFirstSecretFd = spawner::kFirstLetterFd;

// The others, for the program: part of its letter.
class SecretSteps {
 public:
  // Sends the descriptors along: after the streams, and before any other, so that they come to have
  // their numbers.
  SecretSteps(ScriptBuilder& letter, const SecretParts& parts);
  // Maps the variables into the program's memory: to be done when nothing else is left but exec.
  void map_variables() const;
  // Where the variables are going to be.
  [[nodiscard]] std::vector<std::uint64_t> variable_addresses() const;

 private:
  ScriptBuilder& letter_;
  const SecretParts& parts_;
  int variables_ = -1;
};

}  // namespace cordon::linux_backend
