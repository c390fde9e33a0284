// Small and fixed amounts, since these run without their guards too; the bombs are in
// limits_test.cc.
#include "escape/attacks.h"

namespace cordon::escape {

std::vector<Attack> resource_attacks() {
  return {
      {"CannotFillTmpBeyondItsSize",
       told({"file", "/tmp/large", "72000000"}),
       {.asked = [](Request& request,
                    const Bait&) { request.grants.push_back(Grant::tmpfs("/tmp", 80 << 20)); }}},
      {"CannotFillSharedMemoryBeyondItsSize",
       told({"file", "/dev/shm/large", "72000000"}),
       {.never = "the size of /dev/shm cannot be asked for; writing to the host's would do harm"}},
      {"CannotWriteLargerFileThanAllowed",
       [](const Bait& b) -> Words { return {"file", b.writable("large"), "2000000"}; },
       {.without = {"limit:file_size"}},
       [](Request& request, const Bait&) { request.limits.file_size_bytes = 1 << 20; }},
  };
}

}  // namespace cordon::escape
