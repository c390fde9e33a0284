#include "backend/gvisor/image_manifest.h"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include "backend/linux/probe_files.h"
#include "base/errors.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "cordon/clock.h"

namespace cordon::gvisor_backend {
namespace {

using base::json_text;
using base::JsonObject;
using base::printable;

constexpr const char* kStage = "image";
constexpr std::string_view kFormat = "cordon.gvisor.image/2";

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, kStage, std::move(message));
}

template <typename T, typename F>
std::string list(const std::vector<T>& values, F text) {
  std::string all;
  for (const T& value : values) all += (all.empty() ? "" : ",") + text(value);
  return "[" + all + "]";
}

std::optional<std::string> text_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

Result<ImageFile> parse_file(const boost::json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return bad("its list of files is damaged");
  auto name = text_of(*object, "name");
  auto digest = text_of(*object, "digest");
  const auto* size = object->if_contains("size");
  const bool whole =
      name && digest && size != nullptr && size->is_int64() && size->get_int64() >= 0;
  if (!whole || name->empty() || name->find('/') != std::string::npos || *name == "." ||
      *name == "..") {
    return bad("its list of files is damaged");
  }
  return ImageFile{*std::move(name), static_cast<std::uint64_t>(size->get_int64()),
                   *std::move(digest)};
}

Result<void> parse_lists(const boost::json::object& object, Manifest& manifest) {
  const auto* cpu = object.if_contains("cpu");
  const auto* files = object.if_contains("files");
  if (cpu == nullptr || !cpu->is_array() || files == nullptr || !files->is_array()) {
    return bad("it has no list of files or of the processor's features");
  }
  for (const auto& feature : cpu->get_array()) {
    if (!feature.is_string()) return bad("its list of the processor's features is damaged");
    manifest.cpu.emplace_back(feature.get_string());
  }
  for (const auto& entry : files->get_array()) {
    auto file = parse_file(entry);
    if (!file) return std::unexpected(std::move(file.error()));
    manifest.files.push_back(*std::move(file));
  }
  return {};
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) all.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> features_of_processor() {
  const auto text = linux_backend::read_small_file("/proc/cpuinfo");
  if (!text) return {};
  std::size_t begin = text->find("\nflags");
  if (begin == std::string::npos) begin = text->find("\nFeatures");
  if (begin == std::string::npos) return {};
  begin = text->find(':', begin);
  if (begin == std::string::npos) return {};
  const std::string_view rest = std::string_view(*text).substr(begin + 1);
  return words(rest.substr(0, rest.find('\n')));
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  return JsonObject()
             .add("format", json_text(kFormat))
             .add("sandbox_id", json_text(manifest.sandbox_id))
             .add("policy", json_text(manifest.policy))
             .add("runsc", json_text(manifest.runsc))
             .add("machine", json_text(manifest.machine))
             .add("created", json_text(manifest.created))
             .add("cpu",
                  list(manifest.cpu, [](const std::string& name) { return json_text(name); }))
             .add("files", list(manifest.files,
                                [](const ImageFile& file) {
                                  return JsonObject()
                                      .add("name", json_text(file.name))
                                      .add("size", std::to_string(file.size))
                                      .add("digest", json_text(file.digest))
                                      .str();
                                }))
             .str() +
         "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  boost::system::error_code failed;
  const boost::json::value all = boost::json::parse({text.data(), text.size()}, failed);
  const auto* object = failed ? nullptr : all.if_object();
  if (object == nullptr) return bad("it is not JSON, or not whole");
  const auto format = text_of(*object, "format");
  if (!format) return bad("it does not say what format it has");
  if (*format != kFormat) {
    return bad("it has the format " + printable(*format) + ", and this version of Cordon reads " +
               std::string(kFormat));
  }
  Manifest manifest;
  const std::pair<const char*, std::string*> texts[] = {{"sandbox_id", &manifest.sandbox_id},
                                                        {"policy", &manifest.policy},
                                                        {"runsc", &manifest.runsc},
                                                        {"machine", &manifest.machine},
                                                        {"created", &manifest.created}};
  for (const auto& [name, target] : texts) {
    auto value = text_of(*object, name);
    if (!value) return bad("it has no " + std::string(name));
    *target = *std::move(value);
  }
  if (auto ok = parse_lists(*object, manifest); !ok) return std::unexpected(std::move(ok.error()));
  return manifest;
}

Result<void> check_fits(const Manifest& image, const Manifest& here) {
  if (image.sandbox_id != here.sandbox_id) {
    return bad("the image is of the sandbox " + printable(image.sandbox_id) + ", not of " +
               printable(here.sandbox_id) + ": restore it under its own name");
  }
  if (image.policy != here.policy) {
    return bad(
        "the sandbox of the image was given something else (program, grants, network, "
        "limits) than this one asks for: restore it with the options it was created with");
  }
  const auto differs = [](const std::string& what, const std::string& there,
                          const std::string& now) {
    return base::fail(ErrorCode::unsupported, kStage,
                      "the image was written by " + what + " " + printable(there) +
                          ", and here is " + printable(now) + ": restore it where it was written");
  };
  if (image.runsc != here.runsc) return differs("runsc", image.runsc, here.runsc);
  if (image.machine != here.machine) return differs("a machine", image.machine, here.machine);
  std::vector<std::string> missing;
  std::ranges::set_difference(image.cpu, here.cpu, std::back_inserter(missing));
  if (missing.empty()) return {};
  constexpr std::size_t kMost = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(missing.size(), kMost); ++i) {
    names += (i == 0 ? "" : ", ") + printable(missing[i]);
  }
  if (missing.size() > kMost) names += " …";
  return base::fail(ErrorCode::unsupported, kStage,
                    "the image was written on a processor that has features this one does not "
                    "have: " +
                        names + "; restore it on a processor of that kind");
}

Manifest manifest_here(std::string sandbox_id, std::string policy, std::string runsc) {
  Manifest manifest{.sandbox_id = std::move(sandbox_id),
                    .policy = std::move(policy),
                    .runsc = std::move(runsc),
                    .cpu = features_of_processor()};
  utsname system{};
  if (::uname(&system) == 0) manifest.machine = static_cast<const char*>(system.machine);
  const std::time_t now = std::chrono::system_clock::to_time_t(real_clock().wall_now());
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&now, &parts) != nullptr) {
    manifest.created.assign(static_cast<const char*>(text),
                            std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
  }
  return manifest;
}

}  // namespace cordon::gvisor_backend
