// A program of somebody else's that uses Cordon; public headers only.
#include <iostream>

#include "cordon/version.h"

int main() {
  std::cout << "cordon " << cordon::version() << '\n';
  return cordon::version().empty() ? 1 : 0;
}
