#include "message.h"

#include <unistd.h>

#include <fmt/format.h>

#include "write_all.h"

namespace cordon::app {

void complain(std::string_view text) {
  (void)write_all(STDERR_FILENO, fmt::format("cordon: {}\n", text));
}

int usage_error(std::string_view text, std::string_view help_command) {
  complain(fmt::format("{}; see '{}'", text, help_command));
  return kOwnFailure;
}

int print(std::string_view text) {
  const auto written = write_all(STDOUT_FILENO, text);
  if (written) return 0;
  complain(written.error().message);
  return kOwnFailure;
}

}  // namespace cordon::app
