// Holds 256 MB that do not compress, and says every few milliseconds that it is alive.
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <vector>

int main() {
  constexpr std::size_t kWords = std::size_t{256} * 1024 * 1024 / sizeof(std::uint64_t);
  std::vector<std::uint64_t> held(kWords);
  std::uint64_t state = 88172645463325252U;
  for (std::uint64_t& word : held) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    word = state;
  }
  constexpr timespec kPause{0, 5'000'000};
  for (std::size_t i = 0; ::write(1, held[i % kWords] == 0 ? "-" : ".", 1) == 1; ++i) {
    ::nanosleep(&kPause, nullptr);
  }
}
