#include "message.h"

#include <poll.h>
#include <unistd.h>

#include <string>

#include "concat.h"
#include "write_all.h"

namespace cordon::app {

void complain(std::string_view text) {
  (void)write_all(STDERR_FILENO, concat("cordon: ", text, "\n"));
}

bool complain_unless_held_up(std::string_view text) {
  constexpr std::size_t kAtOnce = 2000;  // what a pipe with room takes without waiting
  pollfd wanted{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&wanted, 1, 0) != 1 || (wanted.revents & POLLOUT) == 0) return false;
  complain(text.size() > kAtOnce ? concat(text.substr(0, kAtOnce), "…") : std::string(text));
  return true;
}

int usage_error(std::string_view text, std::string_view help_command) {
  complain(concat(text, "; see '", help_command, "'"));
  return kOwnFailure;
}

int print(std::string_view text) {
  const auto written = write_all(STDOUT_FILENO, text);
  if (written) return 0;
  complain(written.error().message);
  return kOwnFailure;
}

}  // namespace cordon::app
