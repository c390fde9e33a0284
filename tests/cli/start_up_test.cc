// What the command needs to start.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cordon::cli {
namespace {

std::vector<char> command_file() {
  std::ifstream file(CORDON_COMMAND, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Loading shared libraries would be a large part of its start; see
// docs/decisions/030-static-command.md.
TEST(StartUp, NeedsNoSharedLibrariesAndHasNoFixedAddress) {
  if (!CORDON_STATIC_COMMAND) GTEST_SKIP() << "the command is not linked statically in this build";
  const std::vector<char> file = command_file();
  Elf64_Ehdr header;
  ASSERT_GE(file.size(), sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  EXPECT_EQ(header.e_type, ET_DYN);  // can be loaded anywhere
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const std::size_t at = header.e_phoff + i * sizeof part;
    ASSERT_GE(file.size(), at + sizeof part);
    std::memcpy(&part, file.data() + at, sizeof part);
    EXPECT_NE(part.p_type, PT_INTERP);  // which would load others
  }
}

}  // namespace
}  // namespace cordon::cli
