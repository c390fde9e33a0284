// Values as bytes, for the socket of a service: fixed-size integers in the machine's own order
// (both ends are on one machine, and of one version), lengths before what they count.
//
// One function carry(codec, value) for each type serves both directions, so that what is written
// and what is read cannot differ. It takes the value apart by a structured binding of all its
// fields: a field that is added without being carried does not compile.
//
// A Reader is strict: it never reads past its bytes, takes no value that its type does not have,
// and once something was wrong everything after it is, too.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cordon/clock.h"

namespace cordon::app::service {

// The last value of an enumeration that is carried; each is defined beside its carry().
template <typename Enum>
inline constexpr Enum kLast{};

class Writer {
 public:
  template <typename... Values>
  void all(Values&... values) {
    (one(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }
  void refuse() {}  // what is written was right

 private:
  void raw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  template <std::integral Int>
  void one(Int& value) {
    raw(&value, sizeof value);
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void one(Enum& value) {
    raw(&value, sizeof value);
  }
  void one(Duration& value) {
    const std::int64_t count = value.count();
    raw(&count, sizeof count);
  }
  void one(std::string& value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    raw(&size, sizeof size);
    raw(value.data(), value.size());
  }
  template <typename T>
  void one(std::optional<T>& value) {
    bool there = value.has_value();
    one(there);
    if (there) one(*value);
  }
  template <typename T>
  void one(std::vector<T>& values) {
    const auto size = static_cast<std::uint32_t>(values.size());
    raw(&size, sizeof size);
    for (T& value : values) one(value);
  }
  template <typename T>
    requires std::is_class_v<T>
  void one(T& value) {
    carry(*this, value);
  }

  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <typename... Values>
  void all(Values&... values) {
    (one(values), ...);
  }
  // All was right, and nothing is left over.
  [[nodiscard]] bool finished() const { return right_ && left_.empty(); }
  // What was read is no value of its type.
  void refuse() { right_ = false; }

 private:
  [[nodiscard]] bool raw(void* data, std::size_t size) {
    if (!right_ || left_.size() < size) return right_ = false;
    std::memcpy(data, left_.data(), size);
    left_.remove_prefix(size);
    return true;
  }
  template <std::integral Int>
  void one(Int& value) {
    (void)raw(&value, sizeof value);
  }
  void one(bool& value) {
    std::uint8_t byte = 0;
    if (raw(&byte, sizeof byte) && byte > 1) right_ = false;
    value = byte == 1;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void one(Enum& value) {
    std::underlying_type_t<Enum> number{};
    if (raw(&number, sizeof number) &&
        number > static_cast<std::underlying_type_t<Enum>>(kLast<Enum>)) {
      right_ = false;
    }
    if (right_) value = static_cast<Enum>(number);
  }
  void one(Duration& value) {
    std::int64_t count = 0;
    (void)raw(&count, sizeof count);
    value = Duration(count);
  }
  void one(std::string& value) {
    std::uint32_t size = 0;
    if (!raw(&size, sizeof size)) return;
    if (left_.size() < size) {
      right_ = false;
      return;
    }
    value.assign(left_.substr(0, size));
    left_.remove_prefix(size);
  }
  template <typename T>
  void one(std::optional<T>& value) {
    bool there = false;
    one(there);
    if (right_ && there) one(value.emplace());
  }
  template <typename T>
  void one(std::vector<T>& values) {
    std::uint32_t size = 0;
    // Each has at least a byte: a wrong count must not make us allocate what no message could fill.
    if (!raw(&size, sizeof size) || size > left_.size()) right_ = false;
    values.clear();
    for (std::uint32_t i = 0; right_ && i < size; ++i) one(values.emplace_back());
  }
  template <typename T>
    requires std::is_class_v<T>
  void one(T& value) {
    carry(*this, value);
  }

  std::string_view left_;
  bool right_ = true;
};

template <typename T>
[[nodiscard]] std::string to_bytes(T value) {
  Writer writer;
  writer.all(value);
  return writer.take();
}

// Nothing: the bytes are not such a value.
template <typename T>
[[nodiscard]] std::optional<T> from_bytes(std::string_view bytes) {
  T value;
  Reader reader(bytes);
  reader.all(value);
  if (!reader.finished()) return std::nullopt;
  return value;
}

}  // namespace cordon::app::service
