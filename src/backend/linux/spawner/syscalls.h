// System calls without a C library.
#pragma once

#include <cstdint>

namespace cordon::linux_backend::spawner {

// The kernel's answer: negative is -errno.
inline long call(long number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                 std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
  long result = 0;
  register std::uint64_t r10 asm("r10") = d;
  register std::uint64_t r8 asm("r8") = e;
  register std::uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// What stands at an address of the script.
template <typename T>
T& at(std::uint64_t where) {
  return *reinterpret_cast<T*>(where);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace cordon::linux_backend::spawner
