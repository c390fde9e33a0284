#include "image/image.h"

#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/sha256.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr std::uint64_t kMostText = std::uint64_t{4} << 20U;
constexpr std::size_t kMostLayers = 256;
constexpr int kMostIndexes = 4;  // that point to one another

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return base::fail(code, kStage, std::move(message));
}

Result<std::string> read_named(const Blobs& blobs, const std::string& name) {
  auto region = blobs.open(name);
  if (!region) return std::unexpected(std::move(region.error()));
  return read_whole(*region, name, kMostText);
}

Result<void> check_digest(const std::string& text, const std::string& digest,
                          const std::string& name) {
  if (base::to_hex(base::sha256(text)) == digest) return {};
  return fail(ErrorCode::invalid_argument,
              name + " of the image is not what its digest says: it was damaged or changed");
}

std::string blob(const std::string& digest) { return "blobs/sha256/" + digest; }

Result<std::string> read_blob(const Blobs& blobs, const std::string& digest) {
  auto text = read_named(blobs, blob(digest));
  if (!text) return text;
  if (auto ok = check_digest(*text, digest, blob(digest)); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  return text;
}

// As images name it.
std::string this_system() {
  utsname name{};
  (void)::uname(&name);
  const std::string machine = name.machine;
  if (machine == "x86_64") return "linux/amd64";
  if (machine == "aarch64") return "linux/arm64";
  return "linux/" + machine;
}

// The one that was asked for, of those that can be run here.
Result<Pointer> chosen(const std::vector<Pointer>& all, const std::string& tag) {
  std::vector<const Pointer*> fits;
  std::string names;
  bool other_system = false;
  for (const Pointer& one : all) {
    if (!one.name.empty()) names += (names.empty() ? "" : ", ") + base::printable(one.name);
    if (!tag.empty() && one.name != tag) continue;
    if (!one.system.empty() && one.system != this_system()) {
      other_system = true;
      continue;
    }
    fits.push_back(&one);
  }
  if (fits.size() == 1) return *fits.front();
  if (fits.empty() && other_system) {
    return fail(ErrorCode::unsupported,
                "the image is for other processors than this one, " + this_system());
  }
  if (fits.empty()) {
    return fail(ErrorCode::not_found, "there is no image" +
                                          (tag.empty() ? "" : " \"" + base::printable(tag) + "\"") +
                                          " here" + (names.empty() ? "" : ": there are " + names));
  }
  return fail(ErrorCode::invalid_argument, "there are several images here" +
                                               (names.empty() ? "" : " (" + names + ")") +
                                               ": choose one, as oci:DIR:TAG");
}

bool is_index(const Pointer& pointer) {
  return pointer.media.find("image.index") != std::string::npos ||
         pointer.media.find("manifest.list") != std::string::npos;
}

Result<void> add_config(Image& image, const std::string& text) {
  auto config = read_config(text);
  if (!config) return std::unexpected(std::move(config.error()));
  image.config = *std::move(config);
  const auto& told = image.config.layers;
  if (image.layers.size() > kMostLayers) {
    return fail(ErrorCode::resource_exhausted,
                "the image has more than " + std::to_string(kMostLayers) + " layers");
  }
  if (!told.empty() && told.size() != image.layers.size()) {
    return fail(ErrorCode::invalid_argument,
                "the image has another number of layers than its configuration says");
  }
  for (std::size_t i = 0; i < told.size(); ++i) image.layers[i].unpacked = told[i];
  return {};
}

Result<void> read_oci(Image& image, const std::string& index, const std::string& tag) {
  auto all = read_index(index);
  if (!all) return std::unexpected(std::move(all.error()));
  auto pointer = chosen(*all, tag);
  for (int depth = 0; pointer && is_index(*pointer); ++depth) {
    if (depth == kMostIndexes) {
      return fail(ErrorCode::invalid_argument, "the image has indexes of indexes: this is none");
    }
    auto text = read_blob(*image.blobs, pointer->digest);
    if (!text) return std::unexpected(std::move(text.error()));
    auto more = read_index(*text);
    if (!more) return std::unexpected(std::move(more.error()));
    pointer = chosen(*more, "");
  }
  if (!pointer) return std::unexpected(std::move(pointer.error()));
  auto text = read_blob(*image.blobs, pointer->digest);
  if (!text) return std::unexpected(std::move(text.error()));
  auto manifest = read_manifest(*text);
  if (!manifest) return std::unexpected(std::move(manifest.error()));
  image.id = pointer->digest;
  for (const Pointer& layer : manifest->layers) {
    image.layers.push_back({.name = blob(layer.digest), .digest = layer.digest});
  }
  auto config = read_blob(*image.blobs, manifest->config.digest);
  if (!config) return std::unexpected(std::move(config.error()));
  return add_config(image, *config);
}

Result<void> read_docker(Image& image, const std::string& text, const std::string& tag) {
  auto all = read_saved(text);
  if (!all) return std::unexpected(std::move(all.error()));
  if (!tag.empty()) {
    std::erase_if(*all, [&](const SavedImage& one) {
      return std::ranges::none_of(one.tags, [&](const std::string& name) {
        return name == tag || name.ends_with(":" + tag);
      });
    });
  }
  if (all->size() != 1) {
    return fail(all->empty() ? ErrorCode::not_found : ErrorCode::invalid_argument,
                all->empty() ? "there is no such image in the archive"
                             : "there are several images in the archive: save them one by one");
  }
  const SavedImage& saved = all->front();
  auto config = read_named(*image.blobs, saved.config);
  if (!config) return std::unexpected(std::move(config.error()));
  image.id = base::to_hex(base::sha256(*config));
  // The file is called as its digest: "HEX.json", or "blobs/sha256/HEX".
  if (saved.config.find(image.id) == std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                base::printable(saved.config) +
                    " of the image is not what its digest says: it was damaged or changed");
  }
  for (const std::string& layer : saved.layers) image.layers.push_back({.name = layer});
  if (auto added = add_config(image, *config); !added) return added;
  // Nothing else says what the layers have to be.
  if (!image.layers.empty() && image.config.layers.size() == image.layers.size()) return {};
  return fail(ErrorCode::invalid_argument, "the configuration of the image names no layers");
}

}  // namespace

Result<Image> open_image(const std::string& path, const std::string& tag) {
  auto blobs = open_blobs(path);
  if (!blobs) return std::unexpected(std::move(blobs.error()));
  Image image;
  image.blobs = *std::move(blobs);
  Result<void> read;
  if (auto index = read_named(*image.blobs, "index.json")) {
    read = read_oci(image, *index, tag);
  } else if (index.error().code != ErrorCode::not_found) {
    read = std::unexpected(std::move(index.error()));
  } else if (auto saved = read_named(*image.blobs, "manifest.json")) {
    read = read_docker(image, *saved, tag);
  } else {
    read = fail(ErrorCode::invalid_argument, "it has neither index.json nor manifest.json");
  }
  if (read) return image;
  Error error = std::move(read.error());
  error.message = "the image " + base::printable(path) + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace cordon::image
