#include "backend/linux/keeper.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

namespace cordon::linux_backend {
namespace {

class KeeperTest : public testing::Test {
 protected:
  std::unique_ptr<Keeper> keeper_ = *Keeper::start();
};

TEST_F(KeeperTest, DoesEverythingInOrderOnOneThread) {
  std::thread::id thread;
  std::string done;
  keeper_->post([&] {
    thread = std::this_thread::get_id();
    done += 'a';
  });
  keeper_->post_anywhere([&] { done += std::this_thread::get_id() == thread ? 'b' : '?'; });
  keeper_->run([&] { done += std::this_thread::get_id() == thread ? 'c' : '?'; });
  EXPECT_EQ(done, "abc");
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(KeeperTest, IsHelpedByWhoEndsIt) {
  std::promise<std::thread::id> helped;
  std::thread::id helper;
  std::thread::id other;
  // Without help it would wait for ever.
  keeper_->post([&] { helper = helped.get_future().get(); });
  keeper_->post([&] { other = std::this_thread::get_id(); });
  keeper_->post_anywhere([&] { helped.set_value(std::this_thread::get_id()); });
  keeper_.reset();
  EXPECT_EQ(helper, std::this_thread::get_id());
  EXPECT_NE(other, std::this_thread::get_id());  // what is the thread's stays the thread's
}

// What a job holds may take long to let go of, and may post another.
TEST_F(KeeperTest, LetsGoOfAJobWithoutHoldingAnybodyUp) {
  struct Held {
    Keeper& keeper;
    bool& done;
    ~Held() {
      keeper.post([done = &done] { *done = true; });
    }
  };
  bool done = false;
  keeper_->post([held = std::make_shared<Held>(*keeper_, done)] {});
  keeper_->run([] {});
  keeper_.reset();
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace cordon::linux_backend
