#include "backend/linux/spawner_image.h"

#ifndef CORDON_SPAWNER_FILE
#error "CMake names the spawner's file"
#endif

asm(".section .rodata\n"
    ".balign 16\n"
    "cordon_spawner_begin:\n"
    ".incbin \"" CORDON_SPAWNER_FILE
    "\"\n"
    "cordon_spawner_end:\n"
    ".previous\n");

// NOLINTBEGIN(readability-identifier-naming): the assembler's names
extern "C" {
extern const char cordon_spawner_begin[];
extern const char cordon_spawner_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace cordon::linux_backend {

std::span<const char> spawner_image() { return {cordon_spawner_begin, cordon_spawner_end}; }

}  // namespace cordon::linux_backend
