#include "message.h"

#include <unistd.h>

#include "concat.h"
#include "write_all.h"

namespace cordon::app {

void complain(std::string_view text) {
  (void)write_all(STDERR_FILENO, concat("cordon: ", text, "\n"));
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
