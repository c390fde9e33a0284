#include "audit/tail.h"

#include "audit/record.h"

namespace cordon::audit {

Tail examine_tail(const Head& head, std::string_view bytes, const Sealer& sealer) {
  Tail tail{.head = head};
  while (tail.head.file == head.file) {
    const std::size_t newline = bytes.find('\n', tail.accepted);
    if (newline == std::string_view::npos) break;
    const auto link = read_link(bytes.substr(tail.accepted, newline - tail.accepted));
    const bool fits = link && link->sequence == tail.head.sequence + 1 &&
                      link->prev == tail.head.hash && link->keyed == sealer.keyed() &&
                      link->hash == sealer.seal(link->sealed);
    if (!fits) break;
    tail.accepted = newline + 1;
    tail.head.sequence = link->sequence;
    tail.head.hash = link->hash;
    tail.head.size = head.size + tail.accepted;
    if (link->rotated) {
      ++tail.head.file;
      tail.head.size = 0;
    }
  }
  return tail;
}

}  // namespace cordon::audit
