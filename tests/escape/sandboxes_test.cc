// Two sandboxes of one caller, and what they see of each other.
#include <gtest/gtest.h>

#include "escape/runs.h"
#include "support/must_work.h"

namespace cordon::escape {
namespace {

class Sandboxes : public Sandboxed {
 protected:
  static void share_network(Request& request) { request.network = Network::host; }
  std::string name_ = bait_.abstract() + "-other";
};

TEST_F(Sandboxes, CannotSignalEachOther) {
  const Started other = start(request_for(bait_, {"wait"}));
  ASSERT_EQ(other.line, "ready");
  const std::string pid = std::to_string(*other.process->os_pid());
  EXPECT_TRUE(was_stopped(attack({"signal", pid})));
  EXPECT_TRUE(was_stopped(attack({"signal-by-pidfd", pid})));
  EXPECT_TRUE(was_stopped(attack({"trace", pid})));
  EXPECT_TRUE(other.process->running());
}

TEST_F(Sandboxes, ProcessesWithoutOneCanSignalEachOther) {
  const auto plain = posix_manager().value();
  Request request = request_for(bait_, {"wait"});
  request.grants.clear();
  const Started other = start(*plain, request);
  ASSERT_EQ(other.line, "ready");
  request.args = {"signal", std::to_string(*other.process->os_pid())};
  EXPECT_TRUE(has_reached(run(*plain, request)));
}

TEST_F(Sandboxes, AbstractSocketOfTheOtherIsNotVisible) {
  const Started other = start(request_for(bait_, {"listen-unix", name_}));
  ASSERT_EQ(other.line, "ready");
  EXPECT_TRUE(was_stopped(attack({"connect-unix", name_})));
}

TEST_F(Sandboxes, AbstractSocketOfTheOtherIsNotReachableOnTheHostsNetwork) {
  Request listening = request_for(bait_, {"listen-unix", name_});
  Request connecting = request_for(bait_, {"connect-unix", name_});
  share_network(listening);
  share_network(connecting);
  const Started other = start(listening);
  ASSERT_EQ(other.line, "ready");
  if (landlock_abi() < 6) CORDON_SKIP_WITHOUT("landlock", "needs ABI 6");
  EXPECT_TRUE(was_stopped(run(manager(), connecting)));

  const auto weak = manager_without({"landlock"}).value();
  EXPECT_TRUE(has_reached(run(*weak, connecting)));
}

TEST_F(Sandboxes, LoopbackOfTheOtherIsNotReachable) {
  Request listening = request_for(bait_, {"listen-tcp"});
  listening.network = Network::loopback;
  const Started other = start(listening);
  ASSERT_TRUE(other.line.starts_with("port ")) << other.line;
  Request connecting = request_for(bait_, {"connect-tcp", other.line.substr(5)});
  connecting.network = Network::loopback;
  EXPECT_TRUE(was_stopped(run(manager(), connecting)));
}

TEST_F(Sandboxes, LoopbackWorksInside) {
  Request request = request_for(bait_, {"talk-to-oneself"});
  request.network = Network::loopback;
  EXPECT_TRUE(has_reached(run(manager(), request)));
}

TEST_F(Sandboxes, TmpIsNotShared) {
  const Started other = start([&] {
    Request request = request_for(bait_, {"-c", "touch /tmp/mine && echo ready && sleep 1000"});
    request.program = "sh";
    return request;
  }());
  ASSERT_EQ(other.line, "ready");
  EXPECT_TRUE(was_stopped(attack({"see", "/tmp/mine"})));
}

TEST_F(Sandboxes, SharedMemoryIsNotShared) {
  const Started other = start([&] {
    Request request = request_for(bait_, {"-c", "touch /dev/shm/mine && echo ready && sleep 1000"});
    request.program = "sh";
    return request;
  }());
  ASSERT_EQ(other.line, "ready");
  EXPECT_TRUE(was_stopped(attack({"see", "/dev/shm/mine"})));
}

}  // namespace
}  // namespace cordon::escape
