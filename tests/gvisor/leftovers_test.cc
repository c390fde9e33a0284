// What is left when something is killed: nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "backend/gvisor/run_directory.h"
#include "gvisor/harness.h"
#include "support/eventually.h"

namespace cordon::gvisor_tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GvisorLeftovers : public GvisorTest {
 protected:
  // Of this supervisor: others may run at the same time.
  static std::size_t runs_of(const std::string& supervisor) {
    const auto directory = gvisor_backend::directory_of_runs();
    if (!directory) return 0;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(*directory)) {
      if (entry.path().filename().string().find(supervisor) != std::string::npos) ++count;
    }
    return count;
  }
};

TEST_F(GvisorLeftovers, DestroyedContainerLeavesNothing) {
  auto made = spec(script("sleep 1000"));
  const fs::path state = made.state;
  {
    auto container = engine().create(std::move(made));
    ASSERT_TRUE(container) << container.error().message;
    auto process = (*container)->inside().create(script("sleep 1000"));
    ASSERT_TRUE(process);
    ASSERT_TRUE((*process)->start());
    EXPECT_FALSE(processes().empty());
  }
  EXPECT_TRUE(support::eventually([&] { return processes().empty(); }));
  EXPECT_TRUE(fs::is_empty(state));
}

TEST_F(GvisorLeftovers, KilledRunscIsTold) {
  const auto container = create(script("echo ready; sleep 1000"));
  EventStream events = container->main()->events();
  ASSERT_EQ(next_line(events), "ready");
  const auto pid = container->main()->os_pid();
  ASSERT_TRUE(pid);
  ASSERT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0);
  const auto outcome = container->main()->wait();
  ASSERT_TRUE(outcome);
  EXPECT_THAT(container->broken(), HasSubstr("killed"));
  EXPECT_TRUE(support::eventually([&] { return processes().empty(); }));
}

TEST_F(GvisorLeftovers, KilledSupervisorLeavesNothingThatIsNotSwept) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    auto manager = gvisor_manager();
    auto process =
        manager ? (*manager)->create(script("sleep 4321")) : Result<std::shared_ptr<Process>>{};
    const bool started = manager && process && (*process)->start();
    (void)!::write(ready[1], started ? "y" : "n", 1);
    for (;;) ::pause();
  }
  ASSERT_GT(supervisor, 0);
  char answer = '?';
  EXPECT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  const std::string mine = "-" + std::to_string(supervisor) + "-";
  EXPECT_FALSE(processes_with(mine).empty());
  EXPECT_EQ(runs_of(mine), 1U);
  ASSERT_EQ(::kill(supervisor, SIGKILL), 0);
  ASSERT_EQ(::waitpid(supervisor, nullptr, 0), supervisor);
  EXPECT_TRUE(support::eventually([&] { return processes_with(mine).empty(); }));
  auto manager = gvisor_manager();  // the next one sweeps
  ASSERT_TRUE(manager);
  (void)(*manager)->capabilities();
  EXPECT_EQ(runs_of(mine), 0U);
}

}  // namespace
}  // namespace cordon::gvisor_tests
