// Digests a file of an image while runsc writes it, and sends what is written on its way to the
// disk: when runsc is done, little of either is left to do.
//
// It relies on runsc's writing from the first byte to the last (it writes to a stream). What would
// tell that it did not is looked at in the end; then, there is no digest.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "backend/gvisor/image_manifest.h"

namespace cordon::gvisor_backend {

class ImageFollower {
 public:
  // The file may not be there yet.
  ImageFollower(std::string directory, std::string name);
  ~ImageFollower();
  ImageFollower(const ImageFollower&) = delete;
  ImageFollower& operator=(const ImageFollower&) = delete;

  // Nobody writes any more. Empty: it could not be followed, and has to be digested now. Call once.
  [[nodiscard]] std::optional<ImageFile> finish();

 private:
  void follow();
  // False: it ends, since nobody writes any more.
  [[nodiscard]] bool pause();

  const std::string directory_;
  const std::string name_;
  std::optional<ImageFile> found_;  // when the thread has ended
  std::mutex mutex_;
  std::condition_variable changed_;
  bool written_ = false;
  std::thread thread_;
};

}  // namespace cordon::gvisor_backend
