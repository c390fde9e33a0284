#include "backend/linux/network_traces.h"

#include <gtest/gtest.h>

namespace cordon::linux_backend {
namespace {

std::string sockstat(const std::string& used, const std::string& waiting,
                     const std::string& others) {
  return "sockets: used " + used + "\nTCP: inuse 0 orphan " + others + " tw " + waiting +
         " alloc " + others + " mem " + others +
         "\nUDP: inuse 0 mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n";
}

TEST(NetworkTraces, WhatOtherNamespacesHaveIsNotCounted) {
  EXPECT_EQ(own_part_of_sockstat(sockstat("0", "0", "1")),
            own_part_of_sockstat(sockstat("0", "0", "77")));
}

TEST(NetworkTraces, SocketsAndThoseThatWaitAreCounted) {
  const auto none = own_part_of_sockstat(sockstat("0", "0", "1"));
  ASSERT_TRUE(none);
  EXPECT_NE(none, own_part_of_sockstat(sockstat("1", "0", "1")));
  EXPECT_NE(none, own_part_of_sockstat(sockstat("0", "1", "1")));
}

TEST(NetworkTraces, TextThatIsNotUnderstoodTellsNothing) {
  EXPECT_FALSE(own_part_of_sockstat(""));
  EXPECT_FALSE(own_part_of_sockstat("sockets: used 0\n"));
  EXPECT_FALSE(own_part_of_sockstat(sockstat("many", "0", "0")));
}

}  // namespace
}  // namespace cordon::linux_backend
