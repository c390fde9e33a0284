// Does nothing until it is killed. Without a C library, so that what is measured is the cost of a
// process and not of a library's start.
#include <sys/syscall.h>

extern "C" [[noreturn]] void start();  // named as the entry by bench/CMakeLists.txt

extern "C" void start() {
  for (;;) {
#if defined(__x86_64__)
    long result = SYS_pause;
    asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    asm volatile("mov x8, %0\n mov x0, xzr\n mov x1, xzr\n mov x2, xzr\n mov x3, xzr\n svc 0"
                 :
                 : "i"(SYS_ppoll)
                 : "x0", "x1", "x2", "x3", "x8", "memory");
#else
#error "no way to wait on this processor"
#endif
  }
}
