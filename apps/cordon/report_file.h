// Where --report puts the outcome.
//
// Tried before the program runs, so that a file that cannot be written is known in time; written
// once, after it. A regular file appears or is replaced as a whole, by rename; until then what was
// there stays, and nothing else lies about. Pipes and devices are written to.
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

  [[nodiscard]] Result<void> write(std::string_view text);

 private:
  ReportFile() = default;

  std::string path_;    // as given
  base::Fd in_place_;   // a pipe or device; or else …
  std::string target_;  // … the file that is replaced
};

}  // namespace cordon::app
