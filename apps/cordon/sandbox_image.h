// What an image is restored with: the request of its main program, in a file beside the engine's
// own in the image's directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "sandbox_messages.h"

namespace cordon::app::sandbox {

struct ImageRequest {
  std::string version{};  // of Cordon
  std::string name{};     // of the sandbox
  std::string backend{};
  Exec main{};
  std::vector<std::string> policies{};
  std::string profile{};
};
template <typename Codec>
void carry(Codec& codec, ImageRequest& value) {
  auto& [version, name, backend, main, policies, profile] = value;
  codec.all(version, name, backend, main, policies, profile);
}

// Errors: those of the disk; there is no such file then.
[[nodiscard]] Result<void> write_image_request(const std::string& image, ImageRequest request);
// Errors: not_found (no such directory), invalid_argument (no image, damaged, or of another
// version).
[[nodiscard]] Result<ImageRequest> read_image_request(const std::string& image);

// The main program's request as it is kept, and back.
[[nodiscard]] Exec main_of(const Request& request);
[[nodiscard]] Request request_of(Exec main);

}  // namespace cordon::app::sandbox
