// Does nothing until it is killed, in as little memory as a static program can.
#include <unistd.h>

int main() {
  for (;;) ::pause();
}
