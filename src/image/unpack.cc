#include "image/unpack.h"

#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/sha256.h"
#include "image/gunzip.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

std::unexpected<Error> wrong(const LayerPart& part, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, kStage,
                    part.name + " of the image " + std::string(why) +
                        ": it was damaged or changed; get the image again");
}

Result<void> unpack_layer(const Image& image, const LayerPart& part, int directory,
                          Budget& budget) {
  auto region = image.blobs->open(part.name);
  if (!region) return std::unexpected(std::move(region.error()));
  base::Sha256 packed;
  base::Sha256 unpacked;
  Layer layer(directory, budget);
  const auto take = [&](std::string_view bytes) {
    unpacked.add(bytes);
    return layer.feed(bytes);
  };
  std::unique_ptr<Gunzip> gunzip;
  bool begun = false;
  auto read = read_parts(*region, part.name, [&](std::string_view bytes) -> Result<void> {
    packed.add(bytes);
    if (!std::exchange(begun, true)) {
      if (bytes.starts_with(kZstd)) {
        return base::fail(ErrorCode::unsupported, kStage,
                          part.name +
                              " of the image is packed with zstd, which is not supported: pack "
                              "the image with gzip, or not at all");
      }
      if (bytes.starts_with(kGzip)) gunzip = std::make_unique<Gunzip>(take);
    }
    return gunzip ? gunzip->feed(bytes) : take(bytes);
  });
  if (!read) {
    Error error = std::move(read.error());
    if (error.stage == "tar") error.message = part.name + " of the image: " + error.message;
    return std::unexpected(std::move(error));
  }
  if (gunzip && !gunzip->complete()) return wrong(part, "ends early");
  if (!part.digest.empty() && base::to_hex(packed.finish()) != part.digest) {
    return wrong(part, "is not what its digest says");
  }
  if (!part.unpacked.empty() && base::to_hex(unpacked.finish()) != part.unpacked) {
    return wrong(part, "is not what the configuration says");
  }
  if (!layer.complete()) return wrong(part, "ends early");
  return {};
}

}  // namespace

Result<void> unpack_layers(const Image& image, int directory, Budget& budget) {
  for (const LayerPart& part : image.layers) {
    if (auto unpacked = unpack_layer(image, part, directory, budget); !unpacked) return unpacked;
  }
  return {};
}

}  // namespace cordon::image
