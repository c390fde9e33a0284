// An image of a root file system: an OCI layout, as a directory or an archive, or an archive by
// `docker save`.
//
// Everything is named by its digest, and what has another one is refused. Opening reads the
// documents; layers are read when they are unpacked (unpack.h, cache.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "image/blobs.h"
#include "image/config.h"

namespace cordon::image {

struct LayerPart {
  std::string name{};      // in the image
  std::string digest{};    // of that; empty: not told
  std::string unpacked{};  // digest of what is in it when it is unpacked; empty: not told
};

struct Image {
  std::string id{};  // a digest that all the rest follows from
  Config config{};
  std::vector<LayerPart> layers{};  // the lowest first
  std::unique_ptr<Blobs> blobs{};
};

// `tag`: of several images, the one of that name; empty: the only one. Errors: not_found,
// invalid_argument (no image, damaged, several and none was chosen), unsupported (for another
// processor, a digest other than sha256).
[[nodiscard]] Result<Image> open_image(const std::string& path, const std::string& tag);

}  // namespace cordon::image
