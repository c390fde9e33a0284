// Zip archives as bundles of servers are: what is in them, and their content. They come from
// strangers: whatever two readers could understand differently, or could lead out of a directory,
// is refused as a whole. Pure but for zlib.
//
// Read: stored and deflated entries, directories. Refused: links and other kinds of files, names
// that are absolute, lead upwards, are there twice or differ in case alone, encryption, zip64,
// several disks, entries that overlap, and more than the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::mcp {

struct ZipLimits {
  std::size_t max_entries = 50'000;
  std::size_t max_path = 1'024;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of everything, unpacked
  // Small archives may grow to this; larger ones to `max_ratio` times their size.
  std::uint64_t small_bytes = std::uint64_t{64} << 20;
  std::uint64_t max_ratio = 100;
};

struct ZipEntry {
  std::string path{};  // relative, plain names only, no "/" at its end
  bool directory = false;
  bool executable = false;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;     // unpacked
  std::string_view packed{};  // inside the archive
};

// All entries, in the archive's order. `file` is what messages call it; the entries borrow
// `archive`. Errors: invalid_argument, unsupported (encrypted, zip64, another compression).
[[nodiscard]] Result<std::vector<ZipEntry>> read_zip(std::string_view archive,
                                                     std::string_view file,
                                                     const ZipLimits& limits = {});

// The content of a file, in parts; never more than its `size`. What it was is certain only after
// success: length and CRC are checked at the end. Errors: invalid_argument, those of `sink`.
using ZipSink = std::function<Result<void>(std::string_view part)>;
[[nodiscard]] Result<void> unpack_entry(const ZipEntry& entry, std::string_view file,
                                        const ZipSink& sink);

}  // namespace cordon::mcp
