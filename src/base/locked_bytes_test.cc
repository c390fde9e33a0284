#include "base/locked_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>

// The sanitizers of clang answer mlock() themselves, and lock nothing.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CORDON_TEST_LOCKS_NOTHING
#endif
#endif

namespace cordon::base {
namespace {

static_assert(!std::is_copy_constructible_v<LockedBytes>);
static_assert(!std::is_copy_assignable_v<LockedBytes>);

// What the kernel says of the pages at `at`: the "VmFlags:" line of its mapping.
std::string flags_of(const char* at) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool here = false;
  while (std::getline(maps, line)) {
    const std::size_t dash = line.find('-');
    if (dash != std::string::npos && line.find(':') > dash) {
      const auto begin = std::stoull(line.substr(0, dash), nullptr, 16);
      const auto end = std::stoull(line.substr(dash + 1), nullptr, 16);
      const auto address = reinterpret_cast<std::uintptr_t>(at);
      here = begin <= address && address < end;
    }
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(LockedBytes, StaysOutOfDumpsAndSwap) {
  const auto bytes = LockedBytes::copy_of("hush");
  ASSERT_TRUE(bytes);
  const std::string flags = flags_of(bytes->view().data());
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
#ifndef CORDON_TEST_LOCKS_NOTHING
  EXPECT_EQ(flags.find(" lo ") != std::string::npos, bytes->locked()) << flags;
#endif
}

TEST(LockedBytes, KeepsWhatItWasGivenAndMovesWithoutACopy) {
  auto first = LockedBytes::copy_of("hush");
  ASSERT_TRUE(first);
  const char* const place = first->view().data();
  const LockedBytes second = std::move(*first);
  EXPECT_EQ(second.view(), "hush");
  EXPECT_EQ(second.view().data(), place);
  EXPECT_EQ(first->size(), 0U);
}

TEST(LockedBytes, WipesWhatItIsShrunkBy) {
  auto bytes = LockedBytes::copy_of("hush\n");
  ASSERT_TRUE(bytes);
  bytes->shrink(4);
  EXPECT_EQ(bytes->view(), "hush");
  EXPECT_EQ(bytes->view().data()[4], '\0');
}

TEST(LockedBytes, IsGoneWhenDropped) {
  const char* place = nullptr;
  {
    auto bytes = LockedBytes::copy_of("hush");
    ASSERT_TRUE(bytes);
    bytes->make_read_only();
    place = bytes->view().data();
  }
  unsigned char resident = 0;
  EXPECT_NE(::mincore(const_cast<char*>(place), 1, &resident), 0) << "the page is still mapped";
}

TEST(LockedBytesDeathTest, CannotBeChangedOnceItIsReadOnly) {
  auto bytes = LockedBytes::copy_of("hush");
  ASSERT_TRUE(bytes);
  bytes->make_read_only();
  EXPECT_EQ(bytes->view(), "hush");
  EXPECT_DEATH(bytes->writable()[0] = 'x', "");
}

}  // namespace
}  // namespace cordon::base
