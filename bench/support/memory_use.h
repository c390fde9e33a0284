// Memory of the kernel and of this process, in bytes.
#pragma once

#include <cstdint>

namespace cordon::bench {

struct KernelMemory {  // of the whole machine
  std::int64_t slab = 0;
  std::int64_t stacks = 0;
  std::int64_t page_tables = 0;
};
[[nodiscard]] KernelMemory kernel_memory();

struct OwnMemory {
  std::int64_t heap = 0;      // handed out by malloc
  std::int64_t resident = 0;  // without what is shared with others
};
[[nodiscard]] OwnMemory own_memory();

}  // namespace cordon::bench
