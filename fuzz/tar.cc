// An archive, or anything at all: in one piece or in many, the same comes of it, and no more
// content than was announced.
#include "image/tar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using cordon::Result;
using cordon::image::TarEntry;
using cordon::image::TarReader;

std::string read_in_parts(std::string_view bytes, std::size_t part) {
  std::string seen;
  std::uint64_t announced = 0;
  TarReader reader({.entry = [&](const TarEntry& entry) -> Result<void> {
                      announced = entry.type == TarEntry::Type::file ? entry.size : 0;
                      if ((entry.mode & ~0777U) != 0) std::abort();
                      seen += entry.path + '\n' + entry.target + '\n';
                      return {};
                    },
                    .content = [&](std::string_view content) -> Result<void> {
                      if (content.size() > announced) std::abort();
                      announced -= content.size();
                      seen += content;
                      return {};
                    },
                    .end = [&]() -> Result<void> {
                      if (announced != 0) std::abort();
                      seen += "end\n";
                      return {};
                    }});
  while (!bytes.empty()) {
    const std::size_t size = std::min(part, bytes.size());
    if (!reader.feed(bytes.substr(0, size))) return seen + "refused";
    bytes.remove_prefix(size);
  }
  return seen + (reader.complete() ? "complete" : "cut short");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = read_in_parts(bytes, bytes.size() + 1);
  if (read_in_parts(bytes, std::size_t{data[0]} + 1) != whole) std::abort();
  return 0;
}
