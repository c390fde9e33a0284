// The names in a directory.
#pragma once

#include <dirent.h>

#include <optional>

namespace cordon::workdir {

class DirectoryReader {
 public:
  // Reads from the start; `directory` stays the caller's.
  explicit DirectoryReader(int directory);
  ~DirectoryReader();
  DirectoryReader(const DirectoryReader&) = delete;
  DirectoryReader& operator=(const DirectoryReader&) = delete;

  struct Entry {
    const char* name;   // valid until the next call
    bool is_directory;  // as far as the file system says so
  };
  // Without "." and "..". Nothing at the end, or when error() is not 0.
  [[nodiscard]] std::optional<Entry> next();
  // From the start again, with what is there by now.
  void rewind();
  [[nodiscard]] int error() const { return error_; }

 private:
  DIR* stream_ = nullptr;
  int error_ = 0;
};

}  // namespace cordon::workdir
