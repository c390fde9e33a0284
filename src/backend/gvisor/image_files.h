// The files of an image: their way to the disk, and from there to runsc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gvisor/image_manifest.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::gvisor_backend {

// Lists the files of `directory`, writes the manifest there, and has all of it on the disk before
// it returns. What is known of the file `followed` already need not be found out. Errors of the OS.
[[nodiscard]] Result<void> seal_image(const std::string& directory, Manifest manifest,
                                      const std::optional<ImageFile>& followed = std::nullopt);

// An image that is to be restored. What was opened is what is verified and what runsc gets,
// whatever becomes of the names. Used by one thread at a time.
class OpenImage {
 public:
  // All files are there, as long as they were. Errors: invalid_argument (not an image, or damaged),
  // those of the OS.
  [[nodiscard]] static Result<OpenImage> open(const std::string& directory);

  [[nodiscard]] const Manifest& manifest() const { return manifest_; }
  // Whether each byte is what it was: takes as long as to read all of it. Errors: as of open().
  [[nodiscard]] Result<void> verify() const;
  // Makes the directory `at`, in which the files have their names. They are there until close().
  [[nodiscard]] Result<void> show(const std::string& at) const;
  void close() { files_.clear(); }

 private:
  OpenImage() = default;
  std::string directory_;
  Manifest manifest_;
  std::vector<base::Fd> files_;  // as in the manifest
};

}  // namespace cordon::gvisor_backend
