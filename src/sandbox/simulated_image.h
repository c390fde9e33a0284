// The image of a sandbox of scripted programs: a directory with one file, which says whose it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::sandbox {

struct ImageOf {
  const std::string& sandbox_id;
  const Request& request;
};

// What the manager remembers the image by is in it too: `name`, without spaces.

// Into a directory that does not exist yet or is empty; complete, or not there. Errors:
// invalid_argument (not empty), those of the disk.
[[nodiscard]] Result<void> write_image(const std::filesystem::path& image, const ImageOf& of,
                                       const std::string& name,
                                       const std::function<void(std::uint64_t)>& progress);
// Its name. Error: invalid_argument: no such image, damaged, or of another sandbox or request.
[[nodiscard]] Result<std::string> read_image(const std::filesystem::path& image, const ImageOf& of);

}  // namespace cordon::sandbox
