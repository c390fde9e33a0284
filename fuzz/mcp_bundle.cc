// A bundle from a stranger: an archive, what is in it, and the descriptions of servers. What is
// taken for an entry stays inside its directory and its bounds; a manifest that is read can be
// filled in or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "mcp/source/bundle_manifest.h"
#include "mcp/source/server_json.h"
#include "mcp/source/zip_archive.h"

namespace {

using namespace cordon;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr mcp::ZipLimits kLimits{.max_entries = 64, .max_bytes = 1U << 20, .small_bytes = 1U << 16};

void check_entries(std::string_view archive) {
  const auto entries = mcp::read_zip(archive, "f", kLimits);
  if (!entries) return;
  std::set<std::string> names;
  for (const mcp::ZipEntry& entry : *entries) {
    check(names.insert(entry.path).second);
    check(!entry.path.starts_with('/') && !entry.path.empty());
    check(!("/" + entry.path + "/").contains("/../"));
    std::uint64_t size = 0;
    const auto done = mcp::unpack_entry(entry, "f", [&](std::string_view part) -> Result<void> {
      size += part.size();
      check(size <= entry.size);
      return {};
    });
    check(!done || size == entry.size);
  }
}

void check_descriptions(std::string_view text) {
  if (const auto manifest = mcp::read_bundle_manifest(text, "f")) {
    const auto launch =
        mcp::launch_bundle(*manifest, {.directory = "/b", .home = "/home/me"}, {}, "f");
    check(!launch || launch->secrets.empty());
  }
  const auto server = mcp::read_server_json(text, "f");
  if (!server) return;
  const auto package = mcp::choose_package(*server, "", "f");
  if (!package) return;
  const auto launch = mcp::launch_package(*package, {}, "f");
  check(!launch || !package->identifier.starts_with('-'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_entries(text);
  check_descriptions(text);
  return 0;
}
