#include "mcp/source/zip_archive.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace cordon::mcp {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kLongestComment = 0xFFFF;
constexpr std::uint16_t kEncrypted = 0x2041;  // bits 0, 6 and 13
constexpr std::uint16_t kSizesFollow = 0x0008;
constexpr std::uint32_t kInZip64 = 0xFFFFFFFF;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
// A bundle's signature stands behind the archive, with or without the archive saying so.
constexpr std::string_view kSignatureBegin = "MCPB_SIG_V1";
constexpr std::string_view kSignatureEnd = "MCPB_SIG_END";

std::uint32_t number(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return value;
}
std::uint16_t u16(std::string_view text, std::size_t at) {
  return static_cast<std::uint16_t>(number(text, at, 2));
}
std::uint32_t u32(std::string_view text, std::size_t at) { return number(text, at, 4); }

bool is_end(std::string_view text, std::size_t at) {
  if (u32(text, at) != kEndSignature) return false;
  const std::size_t comment = u16(text, at + 20);
  const std::string_view behind = text.substr(at + kEndSize);
  return behind.size() == comment ||
         (comment == 0 && behind.starts_with(kSignatureBegin) && behind.ends_with(kSignatureEnd));
}

std::optional<std::size_t> find_end(std::string_view archive) {
  if (archive.size() < kEndSize) return std::nullopt;
  const std::size_t last = archive.size() - kEndSize;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (is_end(archive, at)) return at;
  }
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// Why this is no name for a file inside a directory, or "".
std::string_view wrong_with(std::string_view path, std::size_t longest) {
  if (path.empty()) return "has no name";
  if (path.size() > longest) return "has a name that is too long";
  if (!base::is_utf8(path)) return "has a name that is not UTF-8";
  if (std::ranges::any_of(path, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
    return "has a control character in its name";
  }
  if (path.contains('\\')) return "has a \\ in its name, which is a / elsewhere";
  if (path.starts_with('/') || (path.size() > 1 && path[1] == ':')) return "is an absolute path";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (name == "..") return "leads out of the bundle by \"..\"";
    if (name.empty() || name == ".") return "has an empty part or \".\" in its path";
    at = end + 1;
  }
  return "";
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Reader {
 public:
  Reader(std::string_view archive, std::string_view file, const ZipLimits& limits)
      : archive_(archive), file_(file), limits_(limits) {}

  [[nodiscard]] Result<std::vector<ZipEntry>> read() {
    const auto end = find_end(archive_);
    if (!end) return wrong("is no zip archive, or its end is missing");
    const std::string_view tail = archive_.substr(*end);
    const std::size_t count = u16(tail, 10);
    const std::size_t size = u32(tail, 12);
    const std::size_t begin = u32(tail, 16);
    if (count == 0xFFFF || size == kInZip64 || begin == kInZip64) return zip64();
    if (u16(tail, 4) != 0 || u16(tail, 6) != 0 || u16(tail, 8) != count) {
      return fail(ErrorCode::unsupported, "is an archive of several parts: make it one file");
    }
    if (count > limits_.max_entries) return wrong("has more files than a bundle may have");
    if (begin > *end || size != *end - begin) {
      return wrong("is damaged: its directory is not where it says");
    }
    directory_ = begin;
    std::size_t at = begin;
    for (std::size_t i = 0; i < count; ++i) {
      auto next = read_entry(at, *end);
      if (!next) return std::unexpected(std::move(next.error()));
      at = *next;
    }
    if (at != *end) return wrong("is damaged: its directory has more than it says");
    if (auto apart = check_apart(); !apart) return std::unexpected(std::move(apart.error()));
    return std::move(entries_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string_view what) const {
    return base::fail(code, "bundle", base::printable(file_) + " " + std::string(what));
  }
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_argument, what);
  }
  [[nodiscard]] std::unexpected<Error> zip64() const {
    return fail(ErrorCode::unsupported, "is a zip64 archive, which no bundle needs to be");
  }
  [[nodiscard]] std::unexpected<Error> wrong_entry(
      std::string_view path, std::string_view what,
      ErrorCode code = ErrorCode::invalid_argument) const {
    return fail(code, "has an entry \"" + base::printable(path) + "\" that " + std::string(what));
  }

  // The position behind it.
  [[nodiscard]] Result<std::size_t> read_entry(std::size_t at, std::size_t end) {
    if (end - at < kCentralSize || u32(archive_, at) != kCentralSignature) {
      return wrong("is damaged: its directory cannot be read");
    }
    const std::string_view head = archive_.substr(at, kCentralSize);
    const std::size_t name_size = u16(head, 28);
    const std::size_t whole = kCentralSize + name_size + u16(head, 30) + u16(head, 32);
    if (whole > end - at) return wrong("is damaged: its directory is cut off");
    const std::string_view name = archive_.substr(at + kCentralSize, name_size);

    ZipEntry entry{.path = std::string(name), .directory = name.ends_with('/')};
    if (entry.directory) entry.path.pop_back();
    if (const auto why = wrong_with(entry.path, limits_.max_path); !why.empty()) {
      return wrong_entry(name, why);
    }
    const std::uint16_t flags = u16(head, 8);
    const std::uint16_t method = u16(head, 10);
    if ((flags & kEncrypted) != 0) {
      return wrong_entry(name, "is encrypted", ErrorCode::unsupported);
    }
    if (method != kStored && method != kDeflated) {
      return wrong_entry(name, "is compressed by another method than deflate",
                         ErrorCode::unsupported);
    }
    if (auto kind = check_kind(entry, u32(head, 38) >> 16U); !kind) {
      return std::unexpected(std::move(kind.error()));
    }
    entry.deflated = method == kDeflated;
    entry.crc = u32(head, 16);
    entry.size = u32(head, 24);
    const std::uint32_t packed = u32(head, 20);
    const std::uint32_t local = u32(head, 42);
    if (entry.size == kInZip64 || packed == kInZip64 || local == kInZip64) return zip64();
    if (u16(head, 34) != 0) return wrong_entry(name, "is on another disk");
    if (entry.directory && entry.size != 0) return wrong_entry(name, "is a directory with content");
    if (!entry.deflated && entry.size != packed) return wrong_entry(name, "has two sizes");
    if (auto added = add_size(entry.size); !added) return std::unexpected(std::move(added.error()));
    if (auto named = add_name(entry); !named) return std::unexpected(std::move(named.error()));
    if (auto found = find_data(entry, name, head, local); !found) {
      return std::unexpected(std::move(found.error()));
    }
    entries_.push_back(std::move(entry));
    return at + whole;
  }

  [[nodiscard]] Result<void> check_kind(ZipEntry& entry, std::uint32_t mode) const {
    const std::uint32_t type = mode & S_IFMT;
    if (type == S_IFLNK) return wrong_entry(entry.path, "is a symbolic link");
    if (type != 0 && type != S_IFREG && type != S_IFDIR) {
      return wrong_entry(entry.path, "is neither a file nor a directory");
    }
    if (type != 0 && (type == S_IFDIR) != entry.directory) {
      return wrong_entry(entry.path, "is a directory by its name or its mode, but not by both");
    }
    entry.executable = (mode & 0111U) != 0;
    return {};
  }

  [[nodiscard]] Result<void> add_size(std::uint64_t size) {
    total_ += size;
    const std::uint64_t most =
        std::min(limits_.max_bytes,
                 std::max<std::uint64_t>(limits_.small_bytes, limits_.max_ratio * archive_.size()));
    if (total_ <= most) return {};
    return wrong("would be larger unpacked than a bundle of its size may be (" +
                 std::to_string(most) + " bytes)");
  }

  // Each directory on the way counts as a name, too.
  [[nodiscard]] Result<void> add_name(const ZipEntry& entry) {
    const std::string_view path = entry.path;
    for (std::size_t at = path.find('/'); at != std::string_view::npos;
         at = path.find('/', at + 1)) {
      const Name above{.exact = std::string(path.substr(0, at)), .directory = true};
      const auto [found, added] = names_.try_emplace(lower(above.exact), above);
      if (names_.size() > limits_.max_entries) {
        return wrong("has more directories than a bundle may have");
      }
      if (added) continue;
      if (found->second.exact != above.exact) return differs_in_case(path, found->second.exact);
      if (!found->second.directory) return wrong_entry(path, "is below a file");
    }
    const Name own{.exact = entry.path, .directory = entry.directory, .listed = true};
    const auto [found, added] = names_.try_emplace(lower(path), own);
    if (added) return {};
    if (found->second.exact != entry.path) return differs_in_case(path, found->second.exact);
    if (found->second.listed) return wrong_entry(path, "is there twice");
    if (!entry.directory) return wrong_entry(path, "is a file and a directory");
    found->second.listed = true;
    return {};
  }
  [[nodiscard]] std::unexpected<Error> differs_in_case(std::string_view path,
                                                       std::string_view other) const {
    return wrong_entry(path, "differs from \"" + base::printable(other) + "\" in case alone");
  }

  [[nodiscard]] Result<void> find_data(ZipEntry& entry, std::string_view name,
                                       std::string_view head, std::size_t local) {
    const std::size_t packed = u32(head, 20);
    if (local > directory_ || directory_ - local < kLocalSize ||
        u32(archive_, local) != kLocalSignature) {
      return wrong_entry(name, "is not where the directory says");
    }
    const std::string_view own = archive_.substr(local, kLocalSize);
    const std::size_t begin = local + kLocalSize + u16(own, 26) + u16(own, 28);
    if (begin > directory_ || directory_ - begin < packed) return wrong_entry(name, "is cut off");
    const bool later = (u16(own, 6) & kSizesFollow) != 0;
    const bool same = archive_.substr(local + kLocalSize, u16(own, 26)) == name &&
                      u16(own, 8) == u16(head, 10) && (u16(own, 6) & kEncrypted) == 0 &&
                      (later || (u32(own, 14) == u32(head, 16) && u32(own, 18) == packed &&
                                 u32(own, 22) == u32(head, 24)));
    if (!same) return wrong_entry(name, "is described in two ways that differ");
    entry.packed = archive_.substr(begin, packed);
    ranges_.push_back({.begin = local, .end = begin + packed});
    return {};
  }

  [[nodiscard]] Result<void> check_apart() {
    std::ranges::sort(ranges_, {}, &Range::begin);
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].begin < ranges_[i - 1].end) return wrong("has entries that overlap");
    }
    return {};
  }

  struct Name {
    std::string exact{};
    bool directory = false;
    bool listed = false;
  };

  std::string_view archive_;
  std::string_view file_;
  const ZipLimits& limits_;
  std::size_t directory_ = 0;  // where it begins
  std::uint64_t total_ = 0;
  std::map<std::string, Name> names_{};  // by their lower case
  std::vector<Range> ranges_{};
  std::vector<ZipEntry> entries_{};
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip(std::string_view archive, std::string_view file,
                                       const ZipLimits& limits) {
  return Reader(archive, file, limits).read();
}

}  // namespace cordon::mcp
