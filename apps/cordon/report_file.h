// Where --report puts the outcome.
//
// Opened before the program runs, so that a file that cannot be written is known in time; written
// once, after it. A regular file appears or is replaced as a whole, by rename; what was there stays
// until then. Pipes and devices are written to.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app {

class ReportFile {
 public:
  // Error: the file cannot be written; the message says what to do.
  [[nodiscard]] static Result<ReportFile> open(const std::string& path);

  ReportFile(ReportFile&& other) noexcept;
  ReportFile& operator=(ReportFile&& other) noexcept = delete;
  ~ReportFile();  // takes back what open() made, unless written

  [[nodiscard]] Result<void> write(std::string_view text);

 private:
  ReportFile() = default;

  base::Fd fd_;
  std::string path_;       // as given
  std::string target_;     // what is replaced; empty: written to in place
  std::string temporary_;  // what replaces it
};

}  // namespace cordon::app
