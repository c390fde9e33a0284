// The documents of an image, read from JSON that somebody else has written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::image {

// What an image says about the program in it: defaults, nothing more.
struct Config {
  std::vector<std::string> env{};  // "NAME=value"
  std::vector<std::string> entrypoint{};
  std::vector<std::string> command{};
  std::string directory{};
  std::vector<std::string> layers{};  // digests of what is unpacked, one a layer; empty: not told
};

// One of the things that an index or a manifest points to.
struct Pointer {
  std::string media{};
  std::string digest{};  // 64 hex digits; as sha256 has it
  std::string name{};    // its tag, if it has one
  std::string system{};  // "linux/amd64"; empty: not told
};

struct Manifest {
  Pointer config{};
  std::vector<Pointer> layers{};
};

// Of an archive by `docker save`: names of files in it.
struct SavedImage {
  std::string config{};
  std::vector<std::string> tags{};
  std::vector<std::string> layers{};
};

// Errors, of all of these: invalid_argument (not what it should be), unsupported (a digest other
// than sha256).
[[nodiscard]] Result<Config> read_config(std::string_view text);
[[nodiscard]] Result<std::vector<Pointer>> read_index(std::string_view text);
[[nodiscard]] Result<Manifest> read_manifest(std::string_view text);
[[nodiscard]] Result<std::vector<SavedImage>> read_saved(std::string_view text);

}  // namespace cordon::image
