// The tar format (POSIX ustar with pax headers; GNU's long names are read, too), as a stream. Pure.
//
// What is read comes from a sandbox or an image: a Reader takes nothing on trust, and its memory is
// bounded whatever it is fed. It says what an archive contains; whether that may be written
// anywhere is for its caller to decide.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::image {

struct TarEntry {
  enum class Type : std::uint8_t { file, directory, link, hard_link, other };
  Type type = Type::file;
  std::string path{};
  std::string target{};  // of a link
  std::uint32_t mode = 0;
  std::uint64_t size = 0;  // of a file
  std::uint64_t time = 0;  // of its last change, in seconds since 1970; not read
};

inline constexpr std::size_t kTarBlock = 512;

// What comes before the content of an entry, which is then filled up with zeros to a whole block.
[[nodiscard]] std::string tar_header(const TarEntry& entry);
[[nodiscard]] std::string tar_padding(std::uint64_t size);
// What comes last.
[[nodiscard]] std::string tar_end();

class TarReader {
 public:
  struct Sink {
    std::function<Result<void>(const TarEntry&)> entry;
    std::function<Result<void>(std::string_view)> content;  // of the last file
    std::function<Result<void>()> end;                      // of that content
  };
  explicit TarReader(Sink sink) : sink_(std::move(sink)) {}

  // Errors: invalid_argument (not an archive), those of the sink. Nothing can be fed after one.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  // Whether the archive is whole.
  [[nodiscard]] bool complete() const { return ended_; }

 private:
  enum class Content : std::uint8_t { of_file, of_path, of_target, of_pax, skipped };
  [[nodiscard]] Result<void> header();
  [[nodiscard]] Result<void> content(std::string_view part);
  [[nodiscard]] Result<void> finish_content();
  [[nodiscard]] Result<void> read_pax();

  Sink sink_;
  std::string block_;          // of a header, as far as it has come
  std::uint64_t left_ = 0;     // of the content
  std::uint64_t padding_ = 0;  // after it
  bool in_content_ = false;
  Content kind_ = Content::skipped;
  std::string text_;                   // of a long name or a pax header
  std::optional<std::string> path_{};  // for the next entry, instead of its own
  std::optional<std::string> target_{};
  std::optional<std::uint64_t> size_{};
  int empty_blocks_ = 0;
  bool ended_ = false;
};

}  // namespace cordon::image
