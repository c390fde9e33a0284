// A container: its main program, and others beside it.
#include <csignal>
#include <thread>

#include "gvisor/harness.h"
#include "support/count_from.h"
#include "support/eventually.h"

namespace cordon::gvisor_tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

class GvisorContainer : public GvisorTest {};

TEST_F(GvisorContainer, RunsOthersBesideItsMainProgram) {
  const auto container = create(script("echo there > /tmp/file; echo ready; sleep 1000"));
  EventStream events = container->main()->events();
  ASSERT_EQ(next_line(events), "ready");
  const Ran seen = exec(*container, "cat /tmp/file; exit 7");
  EXPECT_EQ(seen.out, "there\n") << "one file system";
  EXPECT_EQ(seen.outcome.exit_code, 7);
  EXPECT_EQ(exec(*container, "kill -SEGV $$").outcome.termination.signal, SIGSEGV);
  EXPECT_TRUE(container->main()->running());
  EXPECT_EQ(container->broken(), "");
}

TEST_F(GvisorContainer, AProgramThatIsNotThereIsNotFound) {
  const auto container = create(script("sleep 1000"));
  auto process = container->inside().create("/no/such/program", {});
  ASSERT_TRUE(process);
  const auto started = (*process)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::not_found) << started.error().message;
}

TEST_F(GvisorContainer, NobodyInsideGetsMoreThanItHas) {
  Request main = script("sleep 1000");
  main.limits.memory_bytes = std::uint64_t{256} << 20;
  const auto container = create(std::move(main));
  const auto refused = [&](Request request) {
    auto process = container->inside().create(std::move(request));
    return process ? Error{} : process.error();
  };
  Request request = script("true");
  request.grants = {Grant::read("/srv")};
  EXPECT_EQ(refused(request).code, ErrorCode::not_permitted);
  EXPECT_THAT(refused(request).message, HasSubstr("grants"));
  request = script("true");
  request.limits.memory_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(refused(request).code, ErrorCode::not_permitted);
  request.limits.memory_bytes = std::uint64_t{1} << 20;
  EXPECT_EQ(refused(request).code, ErrorCode::unsupported);
  request = script("true");
  request.user = User{4321, 4321};
  EXPECT_EQ(refused(request).code, ErrorCode::not_permitted);
}

TEST_F(GvisorContainer, DeadlineEndsTheTreeOfOneAlone) {
  const auto container = create(script("sleep 1000"));
  Request request = script("trap '' TERM; (trap '' TERM; sleep 778) & echo ready; sleep 777");
  request.timeout = 2s;
  request.grace = 100ms;
  auto process = container->inside().create(std::move(request));
  ASSERT_TRUE(process);
  ASSERT_TRUE((*process)->start());
  const auto outcome = (*process)->wait();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::timeout);
  // What lives inside is asked there: the main program is the only one that sleeps.
  const Ran left =
      exec(*container, "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
  EXPECT_THAT(left.out, HasSubstr("sleep 1000"));
  EXPECT_THAT(left.out, testing::Not(HasSubstr("sleep 777")));
  EXPECT_THAT(left.out, testing::Not(HasSubstr("sleep 778")));
}

TEST_F(GvisorContainer, ManyAtOnceKeepTheirOutputApart) {
  const int count = support::count_from("CORDON_SOAK_GVISOR_EXECS", 6);
  const auto container = create(script("sleep 1000"));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const std::string id = std::to_string(i);
      const Ran ran =
          exec(*container, "for n in 1 2 3 4 5; do echo " + id + "-$n; done; exit " + id);
      std::string wanted;
      for (int n = 1; n <= 5; ++n) wanted += id + "-" + std::to_string(n) + "\n";
      if (ran.out == wanted && ran.outcome.exit_code == i) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, count);
}

TEST_F(GvisorContainer, EndsWithItsMainProgram) {
  const auto container = create(script("read line; exit 3"));
  EXPECT_EQ(container->main()->wait()->exit_code, 3);
  EXPECT_EQ(container->broken(), "");
  auto process = container->inside().create(script("true"));
  ASSERT_TRUE(process);
  const auto started = (*process)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::wrong_state);
  EXPECT_THAT(started.error().message, HasSubstr("ended"));
}

TEST_F(GvisorContainer, FailureToStartIsToldInRunscsWords) {
  Request request = script("true");
  request.cwd = "/usr";
  request.grants = {Grant::bind("/usr/bin", "/usr/share/no-such-place", Grant::Kind::read)};
  const auto made = engine().create(spec(std::move(request)));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no-such-place"));
  EXPECT_THAT(processes(), IsEmpty());
}

}  // namespace
}  // namespace cordon::gvisor_tests
