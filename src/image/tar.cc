#include "image/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace cordon::image {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} * 1024;

struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kSum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kTarget{157, 100};
constexpr Field kMagic{257, 8};
constexpr Field kPrefix{345, 155};

std::unexpected<Error> wrong(std::string why) {
  return base::fail(ErrorCode::invalid_argument, "tar", "this is no archive: " + std::move(why));
}

std::string text_of(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.size);
  return std::string(text.substr(0, text.find('\0')));
}

// Octal, or with GNU the bytes of a number that does not fit.
std::optional<std::uint64_t> number_of(std::string_view block, Field field) {
  std::string_view text = block.substr(field.at, field.size);
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(text.front()) & 0x80U) != 0) {
    for (const char c : text.substr(text.size() - sizeof value)) {
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::size_t end = text.find_first_not_of("01234567");
  text = text.substr(0, end);
  if (text.empty()) return 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return value;
}

unsigned sum_of(std::string_view block) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool of_sum = i >= kSum.at && i < kSum.at + kSum.size;
    sum += of_sum ? static_cast<unsigned>(' ') : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::uint64_t padding_of(std::uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

void put(std::string& block, Field field, std::string_view text) {
  block.replace(field.at, std::min(text.size(), field.size), text.substr(0, field.size));
}

std::string octal(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0 && value > 0; value >>= 3U) {
    text[i] = static_cast<char>('0' + (value & 7U));
  }
  return text;
}

std::string block_of(char type, const TarEntry& entry) {
  const auto& [kind, path, target, mode, size, time] = entry;
  (void)kind;
  constexpr std::uint64_t kFits = std::uint64_t{1} << 33U;
  std::string block(kTarBlock, '\0');
  put(block, kName, path);
  put(block, kMode, octal(mode, kMode.size - 1));
  put(block, kSize, octal(size < kFits ? size : 0, kSize.size - 1));
  put(block, kTime, octal(time, kTime.size - 1));
  block[kType] = type;
  put(block, kTarget, target);
  put(block, kMagic, std::string_view("ustar\00000", kMagic.size));
  put(block, kSum, octal(sum_of(block), 6) + std::string("\0 ", 2));
  return block;
}

char type_of(TarEntry::Type type) {
  switch (type) {
    case TarEntry::Type::file:
      return '0';
    case TarEntry::Type::hard_link:
      return '1';
    case TarEntry::Type::link:
      return '2';
    case TarEntry::Type::directory:
      return '5';
    case TarEntry::Type::other:
      return '6';  // a pipe
  }
  return '0';
}

// "LENGTH KEY=VALUE\n", where the length counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  std::string rest = " ";
  rest.append(key).append("=").append(value).append("\n");
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) {
    length = std::to_string(length).size() + rest.size();
  }
  return std::to_string(length) + rest;
}

}  // namespace

std::string tar_header(const TarEntry& entry) {
  std::string pax;
  if (entry.path.size() > kName.size) pax += pax_record("path", entry.path);
  if (entry.target.size() > kTarget.size) pax += pax_record("linkpath", entry.target);
  constexpr std::uint64_t kFits = std::uint64_t{1} << 33U;
  if (entry.size >= kFits) pax += pax_record("size", std::to_string(entry.size));
  std::string bytes;
  if (!pax.empty()) {
    const TarEntry about{.path = "pax", .mode = 0600, .size = pax.size()};
    bytes = block_of('x', about) + pax + tar_padding(pax.size());
  }
  return bytes + block_of(type_of(entry.type), entry);
}

std::string tar_padding(std::uint64_t size) {
  return std::string(static_cast<std::size_t>(padding_of(size)), '\0');
}

std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

Result<void> TarReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (ended_) return {};  // whatever fills up the last record
    if (in_content_) {
      const auto part =
          bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
      if (!part.empty()) {
        if (auto taken = content(part); !taken) return taken;
        left_ -= part.size();
        bytes.remove_prefix(part.size());
      }
      if (left_ > 0) return {};
      in_content_ = false;
      if (auto finished = finish_content(); !finished) return finished;
      continue;
    }
    if (padding_ > 0) {
      const std::uint64_t skipped = std::min<std::uint64_t>(padding_, bytes.size());
      padding_ -= skipped;
      bytes.remove_prefix(static_cast<std::size_t>(skipped));
      continue;
    }
    const std::size_t part = std::min(kTarBlock - block_.size(), bytes.size());
    block_.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
    if (block_.size() < kTarBlock) return {};
    if (auto read = header(); !read) return read;
    block_.clear();
    if (in_content_ && left_ == 0) {
      in_content_ = false;
      if (auto finished = finish_content(); !finished) return finished;
    }
  }
  return {};
}

Result<void> TarReader::header() {
  if (std::ranges::all_of(block_, [](char c) { return c == '\0'; })) {
    ended_ = ++empty_blocks_ == 2;
    return {};
  }
  empty_blocks_ = 0;
  const auto sum = number_of(block_, kSum);
  if (!sum || *sum != sum_of(block_)) return wrong("the sum of a header is not right");
  auto size = number_of(block_, kSize);
  const auto mode = number_of(block_, kMode);
  if (!size || !mode) return wrong("a number in a header is none");
  const char type = block_[kType];
  const bool about_the_next = type == 'L' || type == 'K' || type == 'x' || type == 'g';
  if (!about_the_next && size_) size = size_;
  if (*size > std::uint64_t{1} << 62U) return wrong("an entry is too large");
  left_ = *size;
  padding_ = padding_of(*size);
  in_content_ = true;
  if (about_the_next) {
    if (*size > kLongestText) return wrong("a name is too long");
    kind_ = type == 'L'   ? Content::of_path
            : type == 'K' ? Content::of_target
            : type == 'x' ? Content::of_pax
                          : Content::skipped;
    text_.clear();
    return {};
  }
  TarEntry entry;
  entry.mode = static_cast<std::uint32_t>(*mode & 0777U);
  std::string prefix =
      block_.substr(kMagic.at, 6) == std::string("ustar\0", 6) ? text_of(block_, kPrefix) : "";
  entry.path = prefix.empty() ? text_of(block_, kName) : prefix + "/" + text_of(block_, kName);
  entry.target = text_of(block_, kTarget);
  if (path_) entry.path = *std::exchange(path_, std::nullopt);
  if (target_) entry.target = *std::exchange(target_, std::nullopt);
  size_.reset();
  kind_ = Content::skipped;
  switch (type) {
    case '0':
    case '\0':
    case '7':
      entry.type = TarEntry::Type::file;
      entry.size = *size;
      kind_ = Content::of_file;
      break;
    case '1':
      entry.type = TarEntry::Type::hard_link;
      break;
    case '2':
      entry.type = TarEntry::Type::link;
      break;
    case '5':
      entry.type = TarEntry::Type::directory;
      break;
    default:
      entry.type = TarEntry::Type::other;
  }
  return sink_.entry(entry);
}

Result<void> TarReader::content(std::string_view part) {
  if (kind_ == Content::of_file) return sink_.content(part);
  if (kind_ != Content::skipped) text_ += part;
  return {};
}

Result<void> TarReader::finish_content() {
  const auto without_zeros = [this] { return text_.substr(0, text_.find('\0')); };
  switch (kind_) {
    case Content::of_file:
      return sink_.end();
    case Content::of_path:
      path_ = without_zeros();
      return {};
    case Content::of_target:
      target_ = without_zeros();
      return {};
    case Content::of_pax:
      return read_pax();
    case Content::skipped:
      return {};
  }
  return {};
}

Result<void> TarReader::read_pax() {
  std::string_view rest = text_;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(parsed.ptr - rest.data());
    if (parsed.ec != std::errc{} || length > rest.size() || length < digits + 2 ||
        rest[digits] != ' ' || rest[length - 1] != '\n') {
      return wrong("a pax header is not right");
    }
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return wrong("a pax header is not right");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") path_ = std::string(value);
    if (key == "linkpath") target_ = std::string(value);
    if (key.starts_with("GNU.sparse")) return wrong("it has sparse files: pack them as others");
    if (key == "size") {
      std::uint64_t size = 0;
      const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
      if (number.ec != std::errc{}) return wrong("a size is none");
      size_ = size;
    }
  }
  return {};
}

}  // namespace cordon::image
