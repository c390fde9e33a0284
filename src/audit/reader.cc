#include "audit/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "audit/log_files.h"
#include "base/errors.h"

namespace cordon::audit {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} * 1024;

}  // namespace

Result<std::optional<Reader::Line>> Reader::next() {
  while (true) {
    if (const auto line = splitter_.next()) {
      const Line found{.at = at_, .text = line->text, .too_long = line->too_long};
      at_.offset += line->size;
      return found;
    }
    auto more = read_more();
    if (!more) return std::unexpected(std::move(more).error());
    if (*more) continue;
    more = next_file();
    if (!more) return std::unexpected(std::move(more).error());
    if (!*more) return std::nullopt;
  }
}

// False: the end of this file, for now.
Result<bool> Reader::read_more() {
  if (!file_) {
    auto file = directory_.open(file_name(at_.file), O_RDONLY);
    if (!file && file.error().os_error == ENOENT) return false;
    if (!file) return std::unexpected(std::move(file).error());
    file_ = *std::move(file);
  }
  const auto bytes =
      read_from(file_.get(), read_to_, kBuffer, directory_.path_of(file_name(at_.file)));
  if (!bytes) return std::unexpected(bytes.error());
  splitter_.add(*bytes);
  read_to_ += bytes->size();
  return !bytes->empty();
}

// A file is finished once there is the next one.
Result<bool> Reader::next_file() {
  auto file = directory_.open(file_name(at_.file + 1), O_RDONLY);
  if (!file && file.error().os_error == ENOENT) return false;
  if (!file) return std::unexpected(std::move(file).error());
  // What was written to the old one between our look at it and now.
  auto more = file_ ? read_more() : Result<bool>(false);
  if (!more || *more) return more;
  file_ = *std::move(file);
  at_ = {.file = at_.file + 1, .offset = 0};
  read_to_ = 0;
  splitter_ = {};
  return true;
}

Result<std::string> line_at(const Directory& directory, Position at) {
  Reader reader(directory, at);
  auto line = reader.next();
  if (!line) return std::unexpected(std::move(line).error());
  if (!*line || (*line)->at != at) {
    return base::fail(ErrorCode::not_found, "audit",
                      directory.path_of(file_name(at.file)) + " has no such record any more");
  }
  return std::string((*line)->text);
}

}  // namespace cordon::audit
