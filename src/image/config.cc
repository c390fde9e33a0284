#include "image/config.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::image {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostItems = 1024;

std::unexpected<Error> wrong(std::string_view document, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, "image",
                    "the " + std::string(document) + " of the image " + std::string(why) +
                        ": get the image again");
}

Result<json::value> parsed(std::string_view text, std::string_view document) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return wrong(document, "is not JSON");
  return value;
}

const json::value* member(const json::value& value, std::string_view name) {
  const json::object* const object = value.if_object();
  return object == nullptr ? nullptr
                           : object->if_contains(json::string_view(name.data(), name.size()));
}

std::string text_of(const json::value* value) {
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

// Null counts as an empty one.
Result<std::vector<std::string>> texts_of(const json::value* value, std::string_view document) {
  std::vector<std::string> all;
  if (value == nullptr || value->is_null()) return all;
  const json::array* const array = value->if_array();
  if (array == nullptr || array->size() > kMostItems)
    return wrong(document, "has a list that is none");
  for (const json::value& item : *array) {
    if (!item.is_string()) return wrong(document, "has a list of something else than texts");
    all.push_back(text_of(&item));
    if (all.back().find('\0') != std::string::npos) return wrong(document, "has a NUL byte");
  }
  return all;
}

Result<std::string> digest_of(const std::string& text, std::string_view document) {
  constexpr std::string_view kAlgorithm = "sha256:";
  constexpr std::size_t kDigits = 64;
  if (!text.starts_with(kAlgorithm)) {
    return base::fail(ErrorCode::unsupported, "image",
                      "the " + std::string(document) + " of the image has the digest \"" +
                          base::printable(text) + "\", which is none of sha256");
  }
  std::string digits = text.substr(kAlgorithm.size());
  const bool hex = digits.size() == kDigits && std::ranges::all_of(digits, [](char c) {
                     return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                   });
  if (!hex) return wrong(document, "has a digest that is none");
  return digits;
}

Result<Pointer> pointer_of(const json::value& value, std::string_view document) {
  Pointer pointer;
  auto digest = digest_of(text_of(member(value, "digest")), document);
  if (!digest) return std::unexpected(std::move(digest.error()));
  pointer.digest = *std::move(digest);
  pointer.media = text_of(member(value, "mediaType"));
  if (const json::value* const notes = member(value, "annotations")) {
    pointer.name = text_of(member(*notes, "org.opencontainers.image.ref.name"));
  }
  if (const json::value* const system = member(value, "platform")) {
    pointer.system =
        text_of(member(*system, "os")) + "/" + text_of(member(*system, "architecture"));
  }
  return pointer;
}

Result<std::vector<Pointer>> pointers_of(const json::value* value, std::string_view document) {
  const json::array* const array = value == nullptr ? nullptr : value->if_array();
  if (array == nullptr || array->size() > kMostItems) return wrong(document, "lists nothing");
  std::vector<Pointer> all;
  for (const json::value& item : *array) {
    auto pointer = pointer_of(item, document);
    if (!pointer) return std::unexpected(std::move(pointer.error()));
    all.push_back(*std::move(pointer));
  }
  return all;
}

}  // namespace

Result<Config> read_config(std::string_view text) {
  constexpr std::string_view kDocument = "configuration";
  auto value = parsed(text, kDocument);
  if (!value) return std::unexpected(std::move(value.error()));
  if (!value->is_object()) return wrong(kDocument, "is no object");
  Config config;
  if (const json::value* const told = member(*value, "config")) {
    for (const auto& [name, list] :
         {std::pair{"Env", &config.env}, std::pair{"Entrypoint", &config.entrypoint},
          std::pair{"Cmd", &config.command}}) {
      auto texts = texts_of(member(*told, name), kDocument);
      if (!texts) return std::unexpected(std::move(texts.error()));
      *list = *std::move(texts);
    }
    config.directory = text_of(member(*told, "WorkingDir"));
    if (config.directory.find('\0') != std::string::npos) return wrong(kDocument, "has a NUL byte");
  }
  if (const json::value* const root = member(*value, "rootfs")) {
    auto layers = texts_of(member(*root, "diff_ids"), kDocument);
    if (!layers) return std::unexpected(std::move(layers.error()));
    for (const std::string& layer : *layers) {
      auto digest = digest_of(layer, kDocument);
      if (!digest) return std::unexpected(std::move(digest.error()));
      config.layers.push_back(*std::move(digest));
    }
  }
  return config;
}

Result<std::vector<Pointer>> read_index(std::string_view text) {
  auto value = parsed(text, "index");
  if (!value) return std::unexpected(std::move(value.error()));
  return pointers_of(member(*value, "manifests"), "index");
}

Result<Manifest> read_manifest(std::string_view text) {
  constexpr std::string_view kDocument = "manifest";
  auto value = parsed(text, kDocument);
  if (!value) return std::unexpected(std::move(value.error()));
  const json::value* const config = member(*value, "config");
  if (config == nullptr) return wrong(kDocument, "names no configuration");
  auto pointer = pointer_of(*config, kDocument);
  if (!pointer) return std::unexpected(std::move(pointer.error()));
  auto layers = pointers_of(member(*value, "layers"), kDocument);
  if (!layers) return std::unexpected(std::move(layers.error()));
  return Manifest{*std::move(pointer), *std::move(layers)};
}

Result<std::vector<SavedImage>> read_saved(std::string_view text) {
  constexpr std::string_view kDocument = "manifest.json";
  auto value = parsed(text, kDocument);
  if (!value) return std::unexpected(std::move(value.error()));
  const json::array* const array = value->if_array();
  if (array == nullptr || array->size() > kMostItems) return wrong(kDocument, "lists nothing");
  std::vector<SavedImage> all;
  for (const json::value& item : *array) {
    SavedImage saved;
    saved.config = text_of(member(item, "Config"));
    auto tags = texts_of(member(item, "RepoTags"), kDocument);
    if (!tags) return std::unexpected(std::move(tags.error()));
    saved.tags = *std::move(tags);
    auto layers = texts_of(member(item, "Layers"), kDocument);
    if (!layers) return std::unexpected(std::move(layers.error()));
    saved.layers = *std::move(layers);
    if (saved.config.empty()) return wrong(kDocument, "names no configuration");
    all.push_back(std::move(saved));
  }
  return all;
}

}  // namespace cordon::image
