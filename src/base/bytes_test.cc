#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cordon/events.h"

namespace cordon {
namespace {

TEST(BytesTest, KeepsACopyOfItsOwn) {
  std::string source = "hello";
  const Bytes bytes{std::string_view(source)};
  source.assign("xxxxx");
  EXPECT_EQ(bytes.view(), "hello");
  EXPECT_EQ(bytes.str(), "hello");
  EXPECT_EQ(bytes.size(), 5U);
}

TEST(BytesTest, MayBeEmptyAndMayHoldNulBytes) {
  EXPECT_TRUE(Bytes().empty());
  EXPECT_TRUE(Bytes(std::string_view()).empty());
  EXPECT_EQ(Bytes(std::string_view("a\0b", 3)).size(), 3U);
}

TEST(BytesTest, CopiesShareMemory) {
  const Bytes one(std::string_view("shared"));
  const Bytes two = one;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(one.view().data(), two.view().data());
}

TEST(BytesTest, OutlivesWhereItWasCutFrom) {
  Bytes part;
  {
    const Bytes whole(std::string_view("hello world"));
    part = whole.slice(6);
    EXPECT_EQ(part.view().data(), whole.view().data() + 6) << "no copy was made";
  }
  EXPECT_EQ(part.view(), "world");
}

TEST(BytesTest, KeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::string>("owned");
  const std::weak_ptr<std::string> alive = owner;
  {
    const std::string_view view = *owner;
    const Bytes bytes(std::move(owner), view);
    EXPECT_FALSE(alive.expired());
    EXPECT_EQ(bytes.view(), "owned");
  }
  EXPECT_TRUE(alive.expired());
}

TEST(BytesTest, SliceIsCutOffWhereTheBytesEnd) {
  const Bytes bytes(std::string_view("abcdef"));
  EXPECT_EQ(bytes.slice(2, 3).view(), "cde");
  EXPECT_EQ(bytes.slice(4, 100).view(), "ef");
  EXPECT_EQ(bytes.slice(0).view(), "abcdef");
  EXPECT_TRUE(bytes.slice(6).empty());
  EXPECT_TRUE(bytes.slice(1000, 5).empty());
  EXPECT_TRUE(Bytes().slice(1).empty());
  EXPECT_EQ(bytes.slice(1).slice(1, 2).view(), "cd");
}

TEST(EventKindTest, NamesTheStreamsAsUsersKnowThem) {
  EXPECT_EQ(to_string(Event::Kind::out), "stdout");
  EXPECT_EQ(to_string(Event::Kind::err), "stderr");
  EXPECT_EQ(to_string(Event::Kind::exit), "exit");
}

}  // namespace
}  // namespace cordon
