// Where the results of a batch go: stdout, or a file that this batch alone writes to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "batch_input.h"
#include "batch_resume.h"
#include "batch_tally.h"
#include "cordon/error.h"

namespace cordon::app {

class ResultsFile {
 public:
  // stdout.
  ResultsFile() = default;
  // A file that is not there yet; pipes and devices are written to. Error: there is one, or it
  // cannot be made; the message says what to do.
  [[nodiscard]] static Result<ResultsFile> create(const std::string& path);
  // A file that an earlier batch has written, or one that is not there. What that batch has done is
  // counted, `requests` is left after it, and a line that was not written to its end is cut off.
  // Errors: also those of scan_results().
  [[nodiscard]] static Result<ResultsFile> resume(const std::string& path, LineReader& requests,
                                                  std::string_view options, Tally& tally,
                                                  Resumed& resumed);

  // Writes whole lines, waiting as long as it takes, until `stop` has something to read. Error:
  // timed_out, if it has; closed, if nobody reads any more; system.
  [[nodiscard]] Result<void> write(std::string_view lines, int stop) const;
  // "stdout", or the path.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Whether a later batch can go on with it.
  [[nodiscard]] bool resumable() const { return resumable_; }

 private:
  base::Fd file_;  // none: stdout
  std::string name_ = "stdout";
  bool resumable_ = false;
};

}  // namespace cordon::app
