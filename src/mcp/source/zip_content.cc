// The one file that knows zlib.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/errors.h"
#include "base/printable.h"
#include "mcp/source/zip_archive.h"

namespace cordon::mcp {
namespace {

constexpr std::size_t kPart = std::size_t{64} * 1024;
constexpr int kRawDeflate = -15;  // no header, largest window

std::unexpected<Error> wrong(std::string_view file, const ZipEntry& entry, std::string_view what) {
  return base::fail(ErrorCode::invalid_argument, "bundle",
                    base::printable(file) + " has an entry \"" + base::printable(entry.path) +
                        "\" that " + std::string(what));
}

struct EndInflate {
  void operator()(z_stream* stream) const { (void)::inflateEnd(stream); }
};

Result<void> inflate_all(const ZipEntry& entry, std::string_view file, const ZipSink& sink) {
  z_stream stream{};
  if (::inflateInit2(&stream, kRawDeflate) != Z_OK) {
    return base::fail(ErrorCode::resource_exhausted, "bundle", "no memory to unpack with");
  }
  const std::unique_ptr<z_stream, EndInflate> owner(&stream);
  auto buffer = std::make_unique<std::array<Bytef, kPart>>();
  // zlib does not write to it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.packed.data()));
  stream.avail_in = static_cast<uInt>(entry.packed.size());
  std::uint64_t written = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_out = buffer->data();
    stream.avail_out = static_cast<uInt>(buffer->size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = buffer->size() - stream.avail_out;
    if (status != Z_OK && status != Z_STREAM_END) {
      return wrong(file, entry, "is damaged or cut off");
    }
    written += got;
    if (written > entry.size) return wrong(file, entry, "is larger than it says");
    if (auto taken = sink({reinterpret_cast<const char*>(buffer->data()), got}); !taken) {
      return taken;
    }
  }
  if (written != entry.size) return wrong(file, entry, "is smaller than it says");
  if (stream.avail_in != 0) return wrong(file, entry, "has something behind its end");
  return {};
}

}  // namespace

Result<void> unpack_entry(const ZipEntry& entry, std::string_view file, const ZipSink& sink) {
  uLong crc = ::crc32(0, nullptr, 0);
  const ZipSink checked = [&](std::string_view part) {
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    return sink(part);
  };
  Result<void> done;
  if (entry.deflated) {
    done = inflate_all(entry, file, checked);
  } else {
    done = checked(entry.packed);
  }
  if (!done) return done;
  if (crc != entry.crc) return wrong(file, entry, "is damaged: its CRC is another");
  return {};
}

}  // namespace cordon::mcp
