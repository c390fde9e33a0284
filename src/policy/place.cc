#include "policy/place.h"

#include "base/printable.h"

namespace cordon::policy {

std::string to_string(const Place& place) {
  if (place.file.empty()) return "built in";
  std::string text = base::printable(place.file);
  if (place.line > 0) text += ":" + std::to_string(place.line);
  return text;
}

std::string exactly(const Place& place) {
  std::string text = to_string(place);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text;
}

}  // namespace cordon::policy
