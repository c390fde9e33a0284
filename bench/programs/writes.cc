// usage: writes <bytes>
// Writes lines of 100 bytes to stdout as fast as it can, 64 KiB at a time.
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace {

constexpr std::size_t kLine = 100;
constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kText = kLine * kBlock / 4;  // a whole number of both
char text[kText];

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  unsigned long long left = std::strtoull(argv[1], nullptr, 10);
  for (std::size_t i = 0; i < kText; ++i) text[i] = i % kLine == kLine - 1 ? '\n' : 'x';

  std::size_t at = 0;
  while (left > 0) {
    const std::size_t block = left < kBlock ? static_cast<std::size_t>(left) : kBlock;
    for (std::size_t done = 0; done < block;) {
      const ssize_t n = ::write(STDOUT_FILENO, text + at + done, block - done);
      if (n < 0) return 1;
      done += static_cast<std::size_t>(n);
    }
    left -= block;
    at = (at + kBlock) % kText;
  }
}
