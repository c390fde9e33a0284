// Secret: a value that only the program may see.
//
// A SecretValue keeps its bytes in memory that is locked where the OS allows it, left out of core
// dumps, and wiped when the last owner is gone. Copying one shares those bytes and never copies
// them; nothing here prints them. Values are immutable, so they can be shared between threads.
// docs/secrets.md says where a value can be seen and where not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon {

namespace base {
class LockedBytes;
}

inline constexpr std::size_t kMostSecretBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMostSecrets = 64;  // of one request
// Where files are delivered, on a read-only file system in memory that only the program has.
inline constexpr std::string_view kSecretsDirectory = "/run/secrets";

class SecretValue {
 public:
  SecretValue() = default;  // empty, which no request may deliver
  explicit SecretValue(base::LockedBytes bytes);
  // The caller wipes its own copy. Errors: invalid_argument (more than kMostSecretBytes),
  // resource_exhausted.
  [[nodiscard]] static Result<SecretValue> copy_of(std::string_view bytes);

  // The bytes, valid as long as this or a copy of it lives. Not for messages, logs or arguments.
  [[nodiscard]] std::string_view reveal() const;
  [[nodiscard]] std::size_t size() const { return reveal().size(); }

 private:
  std::shared_ptr<const base::LockedBytes> bytes_;
};

struct Secret {
  // How the program gets it.
  enum class Delivery : std::uint8_t {
    env,   // the variable NAME has the value
    fd,    // the variable NAME_FD has the number of a descriptor to read it from
    file,  // the variable NAME_FILE has the path of a file in kSecretsDirectory
  };
  std::string name{};  // [A-Za-z_][A-Za-z0-9_]*
  SecretValue value{};
  Delivery delivery = Delivery::env;

  // The variable that this secret sets: NAME, NAME_FD or NAME_FILE.
  [[nodiscard]] std::string variable() const;
  // Where a file is delivered.
  [[nodiscard]] std::string path() const;
};

// C63: [A-Za-z_][A-Za-z0-9_]*.
[[nodiscard]] bool valid_secret_name(std::string_view name);
// For a manifest, where a secret with an invalid name is skipped (C64): the warning, with the name
// and nothing else of it; empty if the name is valid.
[[nodiscard]] std::string secret_name_warning(std::string_view name);

[[nodiscard]] std::string_view to_string(Secret::Delivery delivery);

}  // namespace cordon
