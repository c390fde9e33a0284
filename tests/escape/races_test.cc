// Somebody else changes what is granted between the moment it is judged and the moment it is
// opened.
//   CORDON_SOAK_SWAPS         attempts of the functions that judge and open
//   CORDON_SOAK_SWAPPED_RUNS  whole runs that start
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "backend/linux/real_paths.h"
#include "backend/linux/views.h"
#include "escape/runs.h"
#include "plan/grants.h"
#include "support/count_from.h"

namespace cordon::escape {
namespace {

namespace fs = std::filesystem;
using linux_backend::open_views;
using linux_backend::with_real_paths;
using support::count_from;

// Two paths change places all the time.
class Swapping {
 public:
  Swapping(std::string first, std::string second, std::chrono::microseconds pause)
      : thread_([first = std::move(first), second = std::move(second),
                 pause](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE);
            if (pause.count() > 0) std::this_thread::sleep_for(pause);
          }
        }) {}

 private:
  std::jthread thread_;
};

// What is swapped for what, and what is asked for meanwhile.
struct Swap {
  const char* name;
  const char* link;   // where the link leads to
  const char* below;  // the path asked for ends so, behind the place that is swapped
  const char* never;  // what may not be opened
  enum class Ask : std::uint8_t { read, write, cwd } ask;
};
constexpr Swap kSwaps[] = {
    {"LinkToProc", "/proc", "", "/proc", Swap::Ask::read},
    {"LinkToSystemDirectory", "/etc", "", "/etc", Swap::Ask::write},
    {"LinkAboveTheGrant", "/", "/etc", "/etc", Swap::Ask::write},
    {"LinkAboveAGrantOfProc", "/", "/proc", "/proc", Swap::Ask::read},
    {"WorkingDirectory", "/etc", "", "/etc", Swap::Ask::cwd},
    {"LinkAboveTheWorkingDirectory", "/", "/etc", "/etc", Swap::Ask::cwd},
};

Request request_of(const Swap& swap, const std::string& path) {
  Request request{.program = "true", .cwd = "/usr"};
  if (swap.ask == Swap::Ask::cwd) {
    request.cwd = path;
  } else {
    request.grants.push_back(swap.ask == Swap::Ask::read ? Grant::read(path) : Grant::write(path));
  }
  return request;
}

// As LinuxBackend::sandbox_plan() and LinuxChild::launch() do it, without what has no part in it.
Result<std::vector<plan::View>> judge(const Request& asked) {
  const Request request = with_real_paths(asked);
  auto views = plan::granted_views(request);
  if (!views) return views;
  const std::vector<plan::View> defaults = {{.target = "/usr", .source = "/usr"}};
  if (auto cwd = plan::place_cwd(request, {.cwd = "/usr"}, defaults, *views); !cwd) {
    return std::unexpected(std::move(cwd.error()));
  }
  return views;
}

class SwappedBetweenCheckAndUse : public testing::TestWithParam<Swap> {
 protected:
  SwappedBetweenCheckAndUse() {
    char name[] = "/tmp/cordon-swap-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~SwappedBetweenCheckAndUse() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_P(SwappedBetweenCheckAndUse, IsNeverOpened) {
  const Swap& swap = GetParam();
  const std::string first = folder_ / "first";
  const std::string second = folder_ / "second";
  fs::create_directories(first + swap.below);
  fs::create_symlink(swap.link, second);
  struct stat innocent{};
  struct stat never{};
  ASSERT_EQ(::stat((first + swap.below).c_str(), &innocent), 0);
  ASSERT_EQ(::stat(swap.never, &never), 0);
  const Request request = request_of(swap, first + swap.below);

  const int attempts =
      std::max(1, count_from("CORDON_SOAK_SWAPS", 12'000) / static_cast<int>(std::size(kSwaps)));
  int tried = 0;
  int opened = 0;
  int refused = 0;  // it was a link when it was judged
  int caught = 0;   // it became one afterwards
  {
    const Swapping swapping(first, second, {});
    // On a busy machine longer, until it has been seen in each state.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto unseen = [&] { return opened == 0 || refused == 0 || caught == 0; };
    for (; tried < attempts || (unseen() && std::chrono::steady_clock::now() < until); ++tried) {
      const auto views = judge(request);
      if (!views) {
        ++refused;
        continue;
      }
      if (tried % 2 == 0) std::this_thread::yield();  // a good moment, if there is but one core
      const auto open = open_views(*views);
      if (!open) {
        ++caught;
        continue;
      }
      ASSERT_EQ(open->size(), 1U);
      const linux_backend::OpenView& view = open->front();
      ASSERT_FALSE(view.device == never.st_dev && view.inode == never.st_ino)
          << view.view.source << " was judged, " << swap.never << " was opened";
      ASSERT_TRUE(view.device == innocent.st_dev && view.inode == innocent.st_ino);
      ++opened;
    }
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(caught, 0) << "nothing was swapped between check and use: nothing was tried";
  std::printf("figure: %s %d attempts, %d swapped in between, 0 opened\n", swap.name, tried,
              caught);
}

INSTANTIATE_TEST_SUITE_P(, SwappedBetweenCheckAndUse, testing::ValuesIn(kSwaps),
                         [](const auto& swap) { return swap.param.name; });

class Races : public Sandboxed {};

// The whole way, at a pace that lets some runs start. What an ordinary caller's sandbox opens once
// more by its name is raced here only.
TEST_F(Races, GrantSwappedWithALinkWhileItIsMountedShowsNothing) {
  const std::string first = bait_.writable("first");
  const std::string second = bait_.writable("second");
  fs::create_directory(first);
  fs::create_symlink("/proc", second);
  const Swapping swapping(first, second, std::chrono::microseconds(300));
  Request request = request_for(bait_, {"see", "/data/" + std::to_string(bait_.victim())});
  request.grants.push_back(Grant::bind(first, "/data", Grant::Kind::read));
  // Most are refused at once: it is a link, or becomes one.
  const int enough = count_from("CORDON_SOAK_SWAPPED_RUNS", 40);
  int tried = 0;
  int ran = 0;
  for (; tried < 10 * enough && ran < enough; ++tried) {
    const Outcome outcome = run(manager(), request);
    ASSERT_FALSE(has_reached(outcome));
    ran += outcome.verdict == Verdict::exited ? 1 : 0;
  }
  EXPECT_GT(ran, 0);
  std::printf(
      "figure: %d grants swapped while they were mounted, %d of the runs started, 0 saw it\n",
      tried, ran);
}

}  // namespace
}  // namespace cordon::escape
