#include "audit/chain_check.h"

#include <utility>

#include "audit/directory.h"
#include "audit/record.h"

namespace cordon::audit {
namespace {

constexpr std::size_t kMostDefects = 20;  // kept; all are counted

}  // namespace

void ChainCheck::defect(std::string file, std::uint64_t line, std::string what) {
  ++defect_count_;
  if (defects_.size() < kMostDefects) defects_.push_back({std::move(file), line, std::move(what)});
}

void ChainCheck::begin_file(std::uint64_t number) {
  number_ = number;
  file_ = file_name(number);
  line_ = 0;
  offset_ = 0;
  splitter_ = {};
}

void ChainCheck::add(std::string_view bytes) {
  splitter_.add(bytes);
  while (const auto line = splitter_.next()) {
    ++line_;
    check(*line);
    offset_ += line->size;
  }
}

void ChainCheck::check(const LineSplitter::Line& line) {
  const auto link = line.too_long ? std::nullopt : read_link(line.text);
  if (!link) {
    here(line.too_long ? "is too long to be a record" : "is not a record");
    ++next_;
    prev_.reset();
    return;
  }
  ++records_;
  if (link->keyed != sealer_.keyed()) {
    here(link->keyed ? "is sealed with a key" : "is not sealed with the key");
  } else if (sealer_.seal(link->sealed) != link->hash) {
    here("was changed, or sealed with another key: its bytes do not give its hash");
  }
  check_order(link->sequence, link->prev);
  if (link->sequence == head_.sequence && link->hash != head_.hash) {
    here("is not the record that the head knows under this number");
  }
  // What follows is compared with what stands here, so that one defect is told once.
  next_ = link->sequence + 1;
  prev_ = link->hash;
}

void ChainCheck::check_order(std::uint64_t sequence, std::string_view prev) {
  if (sequence != next_) {
    here("is record " + std::to_string(sequence) + " where " + std::to_string(next_) +
         " belongs: records were removed, added or put in another order");
  } else if (prev_ && prev != *prev_) {
    here("does not follow the record before it: one of them was replaced");
  }
}

void ChainCheck::end_file() {
  const std::uint64_t cut = splitter_.unfinished();
  if (cut == 0) return;
  // Only behind what the head knows may a writer have died.
  if (number_ == head_.file && offset_ >= head_.size) {
    unfinished_ = cut;
  } else {
    defect(file_, line_ + 1, "is cut off");
  }
}

void ChainCheck::finish() {
  const std::uint64_t last = next_ - 1;
  if (last < head_.sequence) {
    defect(file_.empty() ? file_name(1) : file_, line_,
           "is followed by nothing, but the head knows " + std::to_string(head_.sequence - last) +
               " more: the end was cut off");
  }
}

}  // namespace cordon::audit
