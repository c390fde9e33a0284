#include "marks.h"

#include <cstdlib>

#include "concat.h"
#include "terminal.h"

namespace cordon::app {

bool use_colours(int fd) {
  if (!is_terminal(fd)) return false;
  // https://no-color.org: set and not empty.
  if (const char* const no = std::getenv("NO_COLOR"); no != nullptr && *no != '\0') return false;
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string mark(Guarantee::Level level, bool colours) {
  std::string_view sign = "✗";
  std::string_view colour = "31";
  if (level == Guarantee::Level::enforced) {
    sign = "✓";
    colour = "32";
  } else if (level == Guarantee::Level::partial) {
    sign = "~";
    colour = "33";
  }
  return colours ? concat("\x1b[", colour, "m", sign, "\x1b[0m") : std::string(sign);
}

std::string bold(std::string_view text, bool colours) {
  return colours ? concat("\x1b[1m", text, "\x1b[0m") : std::string(text);
}

}  // namespace cordon::app
