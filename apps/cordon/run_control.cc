#include "run_control.h"

#include <csignal>

namespace cordon::app {

// An error of the calls below means that the program has ended already: nothing is left to do.

void RunControl::interrupt(int signal) {
  switch (++interrupts_) {
    case 1:
      // Everything it started too, as a terminal does: a shell waits for its command's end.
      (void)process_.signal(signal, Reach::tree);
      sent_(signal);
      return;
    case 2:
      cancel();
      return;
    default:
      abandoned_.set();
      (void)process_.kill();
      sent_(SIGKILL);
  }
}

void RunControl::cancel() {
  abandoned_.set();
  (void)process_.terminate(grace_);
  sent_(SIGTERM);
}

}  // namespace cordon::app
