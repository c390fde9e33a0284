// Makes zip archives for tests, wrong ones in particular.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::mcp {

[[nodiscard]] inline std::uint32_t zip_crc(std::string_view data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

[[nodiscard]] inline std::string zip_number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>((value >> (8U * static_cast<unsigned>(i))) & 0xFFU);
  return text;
}

// Deflate without compression.
[[nodiscard]] inline std::string zip_deflated(std::string_view data) {
  return "\x01" + zip_number(data.size(), 2) + zip_number(~data.size() & 0xFFFFU, 2) +
         std::string(data);
}

class ZipBuilder {
 public:
  struct Entry {
    std::string name{};
    std::string packed{};
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    std::uint32_t mode = 0100644;
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    std::string local_name{};  // empty: `name`
    std::int64_t offset = -1;  // of another entry instead of its own
  };

  static Entry stored(std::string name, std::string_view content) {
    return {.name = std::move(name),
            .packed = std::string(content),
            .crc = zip_crc(content),
            .size = content.size()};
  }
  static Entry deflated(std::string name, std::string_view content) {
    return {.name = std::move(name),
            .packed = zip_deflated(content),
            .crc = zip_crc(content),
            .size = content.size(),
            .method = 8};
  }

  ZipBuilder& add(std::string name, std::string_view content) {
    return add(stored(std::move(name), content));
  }
  ZipBuilder& add(const Entry& entry) {
    const auto common = zip_number(entry.flags, 2) + zip_number(entry.method, 2) +
                        zip_number(0, 4) + zip_number(entry.crc, 4) +
                        zip_number(entry.packed.size(), 4) + zip_number(entry.size, 4);
    const std::string& own = entry.local_name.empty() ? entry.name : entry.local_name;
    const std::uint64_t at =
        entry.offset >= 0 ? static_cast<std::uint64_t>(entry.offset) : data_.size();
    if (entry.offset < 0) {
      data_ += "PK\x03\x04" + zip_number(20, 2) + common + zip_number(own.size(), 2) +
               zip_number(0, 2) + own + entry.packed;
    }
    directory_ += "PK\x01\x02" + zip_number(0x031E, 2) + zip_number(20, 2) + common +
                  zip_number(entry.name.size(), 2) + zip_number(0, 2) + zip_number(0, 2) +
                  zip_number(0, 2) + zip_number(0, 2) +
                  zip_number(std::uint64_t{entry.mode} << 16U, 4) + zip_number(at, 4) + entry.name;
    ++count_;
    return *this;
  }

  [[nodiscard]] std::string str(std::string_view comment = "") const {
    return data_ + directory_ + "PK\x05\x06" + zip_number(0, 4) + zip_number(count_, 2) +
           zip_number(count_, 2) + zip_number(directory_.size(), 4) + zip_number(data_.size(), 4) +
           zip_number(comment.size(), 2) + std::string(comment);
  }

 private:
  std::string data_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace cordon::mcp
