// Writes the log. Several of these, in any threads and processes, may share a directory: a lock
// file keeps them apart, and the head tells each where the others have got to.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "audit/directory.h"
#include "audit/head.h"
#include "audit/record.h"
#include "audit/seal.h"
#include "base/fd.h"
#include "cordon/audit.h"
#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::audit {

// Thread-safe. Not for a child made by fork(): it would share its parent's lock.
class Log {
 public:
  // Errors as for RunRecorder::open. `clock` must outlive the log.
  [[nodiscard]] static Result<std::unique_ptr<Log>> open(const Settings& settings, Clock& clock);

  // Writes the entries one after the other, with nobody else's in between. Success: the sequence of
  // the last; it will be found again, whatever happens to this process (with `durable`, to the
  // machine). Failure: none of them was written. Repairs first what a dead writer left.
  [[nodiscard]] Result<std::uint64_t> append(std::span<const Entry> entries);

 private:
  Log(const Settings& settings, Clock& clock, Directory directory, Sealer sealer);

  [[nodiscard]] Result<void> open_head();
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<Head> read_head() const;
  [[nodiscard]] Result<void> open_current(const Head& head);
  [[nodiscard]] Result<void> settle(Head& head);
  [[nodiscard]] Result<void> take_in_tail(Head& head, std::uint64_t size);
  [[nodiscard]] Result<void> keep_torn(const std::string& name, std::string_view bytes) const;
  [[nodiscard]] Result<void> write(Head& head, std::span<const Entry> entries);
  [[nodiscard]] bool put_head(const Head& head) const;  // false: errno tells why
  [[nodiscard]] Result<void> write_head(const Head& head) const;
  [[nodiscard]] Result<void> sync(int fd, const std::string& name) const;

  const Directory directory_;
  const Sealer sealer_;
  Clock& clock_;
  const bool durable_;
  const std::uint64_t max_file_size_;
  const Writer writer_;
  std::mutex mutex_;
  base::Fd lock_;
  base::Fd head_;
  base::Fd current_;
  std::uint64_t current_number_ = 0;
};

}  // namespace cordon::audit
