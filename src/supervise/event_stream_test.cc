#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cordon/events.h"
#include "cordon/request.h"

namespace cordon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Gives out prepared batches, then the end of the stream.
class FakeSource : public EventSource {
 public:
  void attach() override { ++attached; }
  void detach(std::vector<Event> unread) override {
    --attached;
    for (const Event& event : unread) given_back.push_back(event.data.str());
  }
  [[nodiscard]] Result<void> take(std::vector<Event>& batch, Duration patience) override {
    EXPECT_TRUE(batch.empty());
    patiences.push_back(patience);
    if (!batches.empty()) {
      batch = std::move(batches.front());
      batches.pop_front();
      return {};
    }
    if (over) return {};
    return base::fail(ErrorCode::timed_out, "events", "nothing new");
  }
  void notify(std::function<void()> callback) override { ready = std::move(callback); }

  void add(std::initializer_list<std::string_view> texts) {
    auto& batch = batches.emplace_back();
    for (const std::string_view text : texts) batch.emplace_back().data = Bytes(text);
  }

  std::deque<std::vector<Event>> batches;
  bool over = false;
  int attached = 0;
  std::vector<std::string> given_back;
  std::vector<Duration> patiences;
  std::function<void()> ready;
};

class EventStreamTest : public testing::Test {
 protected:
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
};

TEST_F(EventStreamTest, HandsOutEventsOneByOneThenEnds) {
  source_->add({"a", "b"});
  source_->add({"c"});
  source_->over = true;
  EventStream stream(source_);
  std::vector<std::string> all;
  for (const Event& event : stream) all.push_back(event.data.str());
  EXPECT_THAT(all, ElementsAre("a", "b", "c"));
  EXPECT_EQ(stream.next(), std::nullopt) << "and stays at its end";
}

TEST_F(EventStreamTest, AttachesWhileItLives) {
  {
    const EventStream one(source_);
    const EventStream two(source_);
    EXPECT_EQ(source_->attached, 2);
  }
  EXPECT_EQ(source_->attached, 0);
}

TEST_F(EventStreamTest, DetachingGivesTheUnreadBack) {
  source_->add({"a", "b", "c"});
  {
    EventStream stream(source_);
    EXPECT_EQ(stream.next()->data.view(), "a");
  }
  EXPECT_THAT(source_->given_back, ElementsAre("b", "c"));
}

TEST_F(EventStreamTest, DetachingGivesNothingBackWhenAllIsRead) {
  source_->add({"a"});
  {
    EventStream stream(source_);
    EXPECT_EQ(stream.next()->data.view(), "a");
  }
  EXPECT_THAT(source_->given_back, IsEmpty());
}

TEST_F(EventStreamTest, NextForPassesItsPatienceOn) {
  EventStream stream(source_);
  const auto result = stream.next_for(7ms);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::timed_out);
  EXPECT_THAT(source_->patiences, ElementsAre(Duration(7ms)));
}

TEST_F(EventStreamTest, GoesOnAfterATimeout) {
  EventStream stream(source_);
  EXPECT_FALSE(stream.next_for(0ms));
  source_->add({"late"});
  const auto result = stream.next_for(0ms);
  ASSERT_TRUE(result);
  ASSERT_TRUE(*result);
  EXPECT_EQ((*result)->data.view(), "late");
}

TEST_F(EventStreamTest, EndIsNotATimeout) {
  source_->over = true;
  EventStream stream(source_);
  const auto result = stream.next_for(0ms);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, std::nullopt);
}

TEST_F(EventStreamTest, WaitsWithoutEndInNext) {
  source_->over = true;
  EventStream stream(source_);
  EXPECT_EQ(stream.next(), std::nullopt);
  EXPECT_THAT(source_->patiences, ElementsAre(kNoTimeout));
}

TEST_F(EventStreamTest, AsksTheSourceOnlyWhenItHasNothing) {
  source_->add({"a", "b", "c"});
  EventStream stream(source_);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.next());
  EXPECT_EQ(source_->patiences.size(), 1U);
}

TEST_F(EventStreamTest, MovingKeepsOneAttachmentAndThePlace) {
  source_->add({"a", "b"});
  {
    EventStream from(source_);
    EXPECT_EQ(from.next()->data.view(), "a");
    EventStream to(std::move(from));
    EXPECT_EQ(source_->attached, 1);
    EXPECT_EQ(to.next()->data.view(), "b");
  }
  EXPECT_EQ(source_->attached, 0);
  EXPECT_THAT(source_->given_back, IsEmpty());
}

TEST_F(EventStreamTest, AssigningDetachesWhatWasThere) {
  const auto other = std::make_shared<FakeSource>();
  other->add({"x", "y"});
  source_->add({"a", "b"});
  EventStream stream(source_);
  EXPECT_EQ(stream.next()->data.view(), "a");
  EventStream replacement(other);
  EXPECT_EQ(replacement.next()->data.view(), "x");
  stream = std::move(replacement);
  EXPECT_EQ(source_->attached, 0);
  EXPECT_THAT(source_->given_back, ElementsAre("b"));
  EXPECT_EQ(other->attached, 1);
  EXPECT_EQ(stream.next()->data.view(), "y");
}

TEST_F(EventStreamTest, NotifiesAtOnceWhileItHasUnreadEvents) {
  source_->add({"a", "b"});
  EventStream stream(source_);
  EXPECT_TRUE(stream.next());
  int called = 0;
  stream.notify([&] { ++called; });
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(source_->ready) << "called once, so not passed on";

  EXPECT_TRUE(stream.next());
  stream.notify([&] { ++called; });
  EXPECT_EQ(called, 1);
  ASSERT_TRUE(source_->ready);
  source_->ready();
  EXPECT_EQ(called, 2);
}

TEST_F(EventStreamTest, AnEmptyFunctionWithdrawsTheNotice) {
  source_->add({"a", "b"});
  EventStream stream(source_);
  stream.notify([] {});
  EXPECT_TRUE(source_->ready);
  EXPECT_TRUE(stream.next());  // one is left unread
  stream.notify({});
  EXPECT_FALSE(source_->ready);
}

}  // namespace
}  // namespace cordon
