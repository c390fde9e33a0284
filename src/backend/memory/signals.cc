#include "backend/memory/signals.h"

namespace cordon::memory {

DefaultAction default_action(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
      return DefaultAction::ignore;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return DefaultAction::stop;
    case SIGCONT:
      return DefaultAction::go_on;
    default:
      return DefaultAction::end;
  }
}

}  // namespace cordon::memory
