#include "mcp_source_bundle.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "concat.h"
#include "execution/policy_files.h"
#include "mcp/source/bundle_manifest.h"
#include "mcp/source/zip_unpack.h"
#include "mcp_source_kind.h"

namespace cordon::app {
namespace {

constexpr std::size_t kLargestBundle = std::size_t{256} << 20;
constexpr mode_t kReadable = 0755;

std::string home() {
  const char* const set = std::getenv("HOME");
  return set == nullptr ? "" : set;
}

std::unexpected<Error> wrong(const std::string& file, std::string_view what) {
  return base::fail(ErrorCode::invalid_argument, "bundle",
                    concat(base::printable(file), " ", what));
}

}  // namespace

Result<OpenBundle> open_archive(const std::string& file, std::string_view sha256,
                                const std::string& cache) {
  const auto archive = read_source(file, kLargestBundle);
  if (!archive) return std::unexpected(archive.error());
  if (!sha256.empty()) {
    const std::string found = base::to_hex(base::sha256(*archive));
    if (found != sha256) {
      return wrong(file, concat("is not the file that was published: its SHA-256 is ", found,
                                ", and fileSha256 says ", sha256));
    }
  }
  auto made = WorkDir::create({.cache = cache, .name = "bundle"});
  if (!made) return std::unexpected(std::move(made.error()));
  OpenBundle bundle{.unpacked = *std::move(made)};
  // The directory itself is for its owner alone; what is in this one is for the server as well,
  // which may run under another id.
  bundle.directory = concat(bundle.unpacked->path(), "/bundle");
  const base::Fd inside(
      ::mkdir(bundle.directory.c_str(), kReadable) == 0
          ? ::open(bundle.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
          : -1);
  if (!inside || ::fchmod(inside.get(), kReadable) != 0) {
    return base::fail_os("bundle", errno, concat("making ", base::printable(bundle.directory)));
  }
  if (auto done = mcp::unpack_zip(*archive, file, inside.get()); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return bundle;
}

Result<OpenBundle> open_folder(const std::string& manifest) {
  std::error_code error;
  const auto real = std::filesystem::canonical(manifest, error);
  if (error) {
    return base::fail_os("bundle", error.value(), concat("opening ", base::printable(manifest)));
  }
  OpenBundle bundle{.directory = real.parent_path()};
  const auto is_above = [&](const std::string& place) {
    const auto own = base::normalise(place);
    return own && *own != "/" && base::at_or_below(*own, bundle.directory);
  };
  const bool above_home = is_above(home()) || is_above(execution::home_directory());
  if (above_home || bundle.directory == "/") {
    return wrong(manifest, concat("is in ", base::printable(bundle.directory),
                                  ", which no server gets to see as a whole: move the bundle to a "
                                  "directory of its own"));
  }
  return bundle;
}

Result<mcp::Launch> launch_of(const OpenBundle& bundle, const mcp::Given& given,
                              const std::string& called) {
  const std::string file = concat(bundle.directory, "/manifest.json");
  const bool inside = bundle.unpacked.has_value();
  const auto text = read_source(file, kLargestDescription);
  if (!text && text.error().os_error == ENOENT) return wrong(called, "has no manifest.json in it");
  if (!text) return std::unexpected(text.error());
  const std::string name = inside ? concat(called, "/manifest.json") : called;
  const auto manifest = mcp::read_bundle_manifest(*text, name);
  if (!manifest) return std::unexpected(manifest.error());
  return mcp::launch_bundle(*manifest, {.directory = bundle.directory, .home = home()}, given,
                            name);
}

}  // namespace cordon::app
