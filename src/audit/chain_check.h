// Checks that records are what was written, in the order it was written, and all of it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/head.h"
#include "audit/line_splitter.h"
#include "audit/seal.h"

namespace cordon::audit {

struct Defect {
  std::string file;
  std::uint64_t line = 0;  // 0: of the file as a whole
  std::string what;
};

// Feed it the files in order: begin_file, add…, end_file; then finish.
class ChainCheck {
 public:
  // `sealer` must outlive this object.
  ChainCheck(Head head, const Sealer& sealer) : head_(std::move(head)), sealer_(sealer) {}

  void begin_file(std::uint64_t number);
  void add(std::string_view bytes);
  void end_file();
  void finish();
  // Also for what others find.
  void defect(std::string file, std::uint64_t line, std::string what);

  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] const std::vector<Defect>& defects() const { return defects_; }
  [[nodiscard]] std::uint64_t defect_count() const { return defect_count_; }
  // Bytes at the very end that never became a record: a writer died.
  [[nodiscard]] std::uint64_t unfinished() const { return unfinished_; }

 private:
  void check(const LineSplitter::Line& line);
  void check_order(std::uint64_t sequence, std::string_view prev);
  void here(std::string what) { defect(file_, line_, std::move(what)); }

  const Head head_;
  const Sealer& sealer_;
  LineSplitter splitter_;
  std::string file_;
  std::uint64_t number_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t next_ = 1;                       // sequence that is due
  std::optional<std::string> prev_ = no_seal();  // empty: the record before is unreadable
  std::uint64_t records_ = 0;
  std::uint64_t unfinished_ = 0;
  std::vector<Defect> defects_;
  std::uint64_t defect_count_ = 0;
};

}  // namespace cordon::audit
