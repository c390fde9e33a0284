#include "batch_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"

namespace cordon::app {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::unexpected<Error> cannot_read(const std::string& name, int error) {
  return base::fail_os("input", error, concat("cannot read ", base::printable(name)));
}

Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const ssize_t got = ::read(fd, text.data() + before, kBlock);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return cannot_read(name, errno);
    if (text.size() > kMostKept) {
      return base::fail(ErrorCode::invalid_argument, "input",
                        concat(base::printable(name),
                               " has more than 256M, which is too much for what can be read only "
                               "once: put it into a file"));
    }
  }
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

Result<BatchInput> BatchInput::open(const std::string& path) {
  BatchInput input;
  const bool is_stdin = path == "-";
  input.name_ = is_stdin ? "<stdin>" : path;
  base::Fd file(is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return cannot_read(input.name_, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return cannot_read(input.name_, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(input.name_, EISDIR);
  // What somebody has read of a file that is our stdin is not for us: such a file is kept, too.
  if (S_ISREG(status.st_mode) && !is_stdin) {
    input.file_ = std::move(file);
    return input;
  }
  auto text = read_all(file.get(), input.name_);
  if (!text) return std::unexpected(std::move(text).error());
  input.kept_ = *std::move(text);
  return input;
}

BatchInput BatchInput::of(base::Fd file, std::string name) {
  BatchInput input;
  input.file_ = std::move(file);
  input.name_ = std::move(name);
  return input;
}

BatchInput BatchInput::of_text(std::string text, std::string name) {
  BatchInput input;
  input.kept_ = std::move(text);
  input.name_ = std::move(name);
  return input;
}

Result<std::string> BatchInput::read_block(std::uint64_t index) const {
  const std::uint64_t offset = index * kBlock;
  if (!file_) return offset < kept_.size() ? kept_.substr(offset, kBlock) : std::string();
  std::string block(kBlock, '\0');
  std::size_t size = 0;
  while (size < kBlock) {
    const ssize_t got =
        ::pread(file_.get(), block.data() + size, kBlock - size, static_cast<off_t>(offset + size));
    if (got < 0 && errno != EINTR) return cannot_read(name_, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  block.resize(size);
  return block;
}

Result<std::string> BatchInput::block(std::uint64_t index) {
  auto block = read_block(index);
  if (!block || !file_) return block;
  const base::Digest digest = base::sha256(*block);
  if (!sealed_ && index == digests_.size()) digests_.push_back(digest);
  if (index < digests_.size() ? digests_[index] == digest : block->empty()) return block;
  return base::fail(ErrorCode::system, "input",
                    concat(base::printable(name_),
                           " was changed while it was in use: leave it alone until the batch has "
                           "ended, and let no program write to it"));
}

Result<std::optional<InputLine>> LineReader::next() {
  while (true) {
    InputLine line;
    auto found = read_line(line);
    if (!found) return std::unexpected(std::move(found).error());
    if (!*found) return std::nullopt;
    line.number = ++number_;
    if (number_ == 1 && line.text.starts_with(kByteOrderMark)) {
      line.text.erase(0, kByteOrderMark.size());
    }
    if (line.text.ends_with('\r') && !line.too_long) line.text.pop_back();
    if (line.too_long || !is_blank(line.text)) return line;
  }
}

// False: there is none.
Result<bool> LineReader::read_line(InputLine& line) {
  bool any = false;
  while (true) {
    if (used_ == buffer_.size()) {
      auto block = input_->block(blocks_);
      if (!block) return std::unexpected(std::move(block).error());
      if (block->empty()) {
        line.whole = false;
        return any;
      }
      ++blocks_;
      buffer_ = *std::move(block);
      used_ = 0;
      read_ += buffer_.size();
    }
    any = true;
    const std::size_t end = buffer_.find('\n', used_);
    const std::string_view part = std::string_view(buffer_).substr(used_, end - used_);
    const std::size_t room = longest_ - line.text.size();
    line.too_long |= part.size() > room;
    line.text += part.substr(0, room);
    used_ = end == std::string::npos ? buffer_.size() : end + 1;
    offset_ = read_ - (buffer_.size() - used_);
    if (end != std::string::npos) return true;
  }
}

}  // namespace cordon::app
