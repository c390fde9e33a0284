// Does nothing until it is killed. Without a C library, so that what is measured is the cost of a
// process and not of a library's start.
#include <sys/syscall.h>

extern "C" [[noreturn]] void _start();  // NOLINT(readability-identifier-naming): the linker's name

extern "C" void _start() {
  for (;;) {
#if defined(__x86_64__)
    long result = SYS_pause;
    asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number asm("x8") = SYS_ppoll;
    register long none0 asm("x0") = 0;
    register long none1 asm("x1") = 0;
    register long none2 asm("x2") = 0;
    register long none3 asm("x3") = 0;
    asm volatile("svc 0"
                 : "+r"(none0)
                 : "r"(number), "r"(none1), "r"(none2), "r"(none3)
                 : "memory");
#else
#error "no system call for this processor"
#endif
  }
}
