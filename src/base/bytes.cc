#include <algorithm>
#include <memory>

#include "cordon/events.h"

namespace cordon {

Bytes::Bytes(std::string_view copied) {
  if (copied.empty()) return;
  auto memory = std::make_shared_for_overwrite<char[]>(copied.size());
  std::copy(copied.begin(), copied.end(), memory.get());
  view_ = {memory.get(), copied.size()};
  owner_ = std::move(memory);
}

std::string_view to_string(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::out:
      return "stdout";
    case Event::Kind::err:
      return "stderr";
    case Event::Kind::exit:
      return "exit";
  }
  return "unknown";
}

}  // namespace cordon
