// Chunked mode: frames of exactly `chunk_size` bytes; the last one may be shorter.
//
// A chunk that lies within one block shares its memory; one that spans blocks is put together in
// memory of its own.
#pragma once

#include <string>

#include "supervise/framing/framer.h"

namespace cordon::supervise {

class ChunkedFramer final : public Framer {
 public:
  explicit ChunkedFramer(std::size_t chunk_size) : chunk_size_(chunk_size ? chunk_size : 1) {}

  [[nodiscard]] std::size_t feed(const Bytes& block, std::size_t max_frames,
                                 std::vector<Event>& out) override;
  void finish(std::vector<Event>& out) override;

 private:
  void emit_pending(std::vector<Event>& out);

  std::size_t chunk_size_;
  std::string pending_;  // the start of a chunk, shorter than chunk_size_
};

}  // namespace cordon::supervise
