// Takes secrets out of a stream of bytes that comes in pieces of any size.
//
// Every byte that belongs to an occurrence of a secret, in any of its forms (forms.h), is taken
// out; occurrences that overlap are one, and "[redacted NAME]" stands in their place, with the name
// of the one that begins first (of those, the longest). What comes out does not depend on how the
// stream was cut. Bytes that could still become part of an occurrence are held back: at most the
// longest form. Time is linear in the length of the stream. Used by one thread at a time; one for
// each stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "secrets/patterns.h"

namespace cordon::secrets {

class Redactor {
 public:
  explicit Redactor(std::shared_ptr<const SecretPatterns> patterns);

  // What is known to be harmless by now.
  [[nodiscard]] std::string add(std::string_view bytes);
  // The rest. After that a new stream can begin.
  [[nodiscard]] std::string finish();

 private:
  // A part of `held_` that has to go.
  struct Cover {
    std::size_t begin;
    std::size_t end;
    std::size_t first_end;  // of the occurrence that it is named after
    std::uint32_t secret;
    bool marked;  // its marker has been written
  };

  void search(std::size_t from);
  [[nodiscard]] std::size_t skip(std::size_t from) const;
  void step(std::size_t at);
  void found(std::size_t begin, std::size_t end, std::uint32_t secret);
  [[nodiscard]] std::string let_go(std::size_t until);

  std::shared_ptr<const SecretPatterns> patterns_;
  std::vector<std::uint32_t> matched_;  // for each pattern, how much of it the stream ends with
  std::vector<std::uint32_t> active_;   // patterns of which something has matched
  std::string held_;
  std::vector<Cover> covers_;  // in order, not overlapping
};

}  // namespace cordon::secrets
