#include "image_rootfs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "backend/linux/root_listing.h"
#include "base/errors.h"
#include "base/paths.h"
#include "concat.h"
#include "image/cache.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What the command line sets, or passes on by name.
bool is_asked_for(const Request& request, const std::string& name) {
  if (std::ranges::find(request.env, name, &EnvVar::name) != request.env.end()) return true;
  const auto usual = static_cast<std::ptrdiff_t>(default_env_pass().size());
  return std::find(request.env_pass.begin() + usual, request.env_pass.end(), name) !=
         request.env_pass.end();
}

void add_variables(Request& request, const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = entry.substr(0, equals);
    if (is_asked_for(request, name)) continue;
    request.env.push_back({std::move(name), entry.substr(equals + 1)});
  }
  // Where programs are in the image has nothing to do with where they are here.
  if (!is_asked_for(request, "PATH")) request.env.push_back({"PATH", std::string(kPath)});
}

Result<void> choose_program(Request& request, const image::Config& config) {
  if (!request.program.empty()) return {};
  std::vector<std::string> words = config.entrypoint;
  words.insert(words.end(), config.command.begin(), config.command.end());
  if (words.empty() || words.front().empty()) {
    return base::fail(ErrorCode::invalid_argument, "usage",
                      "no program to run was given, and the image names none");
  }
  request.program = std::move(words.front());
  request.args.assign(std::make_move_iterator(words.begin() + 1),
                      std::make_move_iterator(words.end()));
  return {};
}

}  // namespace

Result<std::optional<image::Image>> open_rootfs(RunOptions& options) {
  if (!options.image) return std::nullopt;
  auto image = image::open_image(options.request.root, options.image_tag);
  if (!image) return std::unexpected(std::move(image.error()));
  if (options.manifest.empty()) {
    if (auto chosen = choose_program(options.request, image->config); !chosen) {
      return std::unexpected(std::move(chosen.error()));
    }
  }
  add_variables(options.request, image->config.env);
  if (options.request.cwd.empty()) {
    options.request.cwd = base::normalise(image->config.directory).value_or("");
  }
  return std::optional(*std::move(image));
}

Result<void> unpack_rootfs(const std::optional<image::Image>& image, RunOptions& options) {
  if (!image) return {};
  auto unpacked = image::unpack_into_cache(*image);
  if (!unpacked) return std::unexpected(std::move(unpacked.error()));
  if (unpacked->skipped > 0) {
    complain(concat("the image has ", std::to_string(unpacked->skipped),
                    " devices, pipes or sockets, which were left out"));
  }
  Request& request = options.request;
  std::error_code error;
  const auto real = std::filesystem::canonical(unpacked->root, error);
  request.root = error ? unpacked->root : real.string();
  // An image may name a directory that it does not have.
  const bool by_image = request.cwd == base::normalise(image->config.directory).value_or("");
  if (by_image && !request.cwd.empty() && !linux_backend::open_in_root(request.root, request.cwd)) {
    request.cwd.clear();
  }
  return {};
}

}  // namespace cordon::app
