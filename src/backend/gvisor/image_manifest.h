// What a checkpoint's image says of itself: of which sandbox it is, what it can be restored by, and
// what its files must be. A file `manifest.json` beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::gvisor_backend {

inline constexpr std::string_view kManifestName = "manifest.json";

struct ImageFile {
  std::string name{};
  std::uint64_t size = 0;
  std::string digest{};  // of ImageDigest, in hex

  friend bool operator==(const ImageFile&, const ImageFile&) = default;
};

struct Manifest {
  std::string sandbox_id{};
  std::string policy{};   // digest of what the sandbox was given: grants, network, limits, program
  std::string runsc{};    // its version
  std::string machine{};  // "x86_64"
  std::vector<std::string> cpu{};  // features of the processor, sorted
  std::string created{};           // "2026-01-31T12:00:00Z"
  std::vector<ImageFile> files{};

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

[[nodiscard]] std::string to_text(const Manifest& manifest);
// Error: invalid_argument, that names what is wrong with it.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// Whether what `image` needs is here. Errors: invalid_argument (another sandbox, or what it was
// given has changed), unsupported (another runsc or processor), each with both sides.
[[nodiscard]] Result<void> check_fits(const Manifest& image, const Manifest& here);

// This host, for a sandbox: everything but `created` and `files`.
[[nodiscard]] Manifest manifest_here(std::string sandbox_id, std::string policy, std::string runsc);

}  // namespace cordon::gvisor_backend
