#include "support/memory_use.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace cordon::bench {

KernelMemory kernel_memory() {
  KernelMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string unit;
  for (std::int64_t kib = 0; file >> name >> kib && std::getline(file, unit);) {
    if (name == "Slab:") memory.slab = kib * 1024;
    if (name == "KernelStack:") memory.stacks = kib * 1024;
    if (name == "PageTables:") memory.page_tables = kib * 1024;
  }
  return memory;
}

OwnMemory own_memory() {
  const auto heap = ::mallinfo2();
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return {.heap = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd),
          .resident = (resident - shared) * ::sysconf(_SC_PAGESIZE)};
}

}  // namespace cordon::bench
