// While we work in a tree, somebody swaps what is in it for links that lead out.
#include <sys/stat.h>

#include <atomic>
#include <functional>

#include "support/count_from.h"
#include "workdir/collect.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

int wanted_swaps(int usual) { return support::count_from("CORDON_SOAK_WORKDIR_SWAPS", usual); }

// Does `swap` again and again in a thread of its own. It returns how many swaps that were.
class Swapper {
 public:
  explicit Swapper(std::function<int(int)> swap)
      : thread_([this, swap = std::move(swap)] {
          for (int round = 0; !stop_; ++round) swaps_ += swap(round);
        }) {}
  ~Swapper() {
    stop_ = true;
    thread_.join();
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

  [[nodiscard]] int swaps() const { return swaps_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int> swaps_ = 0;
  std::thread thread_;
};

class Swaps : public TreeTest {
 protected:
  // Makes what the remover has taken anew, then puts the link in the directory's place, and back,
  // until the remover takes one of them.
  [[nodiscard]] static int swap_in(const std::string& place, const std::string& bait) {
    const std::string directory = place + "/d";
    const std::string link = place + "/l";
    (void)::mkdir(place.c_str(), 0700);
    (void)::mkdir(directory.c_str(), 0700);
    for (const char* const name : {"/inner", "/f", "/g"}) {
      (void)::mkdir((directory + name).c_str(), 0700);
    }
    (void)::symlink(bait.c_str(), link.c_str());
    int swaps = 0;
    while (swaps < kInARow &&
           ::renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE) == 0) {
      ++swaps;
    }
    return swaps;
  }
  static constexpr int kInARow = 100;
};

TEST_F(Swaps, DoNotMakeRemovalReachOut) {
  const Bait bait(path("bait"));
  const std::string tree = make("tree");
  const base::Fd top = open_directory(tree);
  {
    const Swapper swapper(
        [&](int i) { return swap_in(i % 2 == 0 ? tree : tree + "/sub", bait.path()); });
    while (swapper.swaps() < wanted_swaps(50'000)) {
      (void)empty_directory(top.get(), tree, in(std::chrono::milliseconds(50)));
      ASSERT_TRUE(bait.intact());
    }
  }
  EXPECT_TRUE(empty_directory(top.get(), tree, soon_enough()));
  EXPECT_EQ(entries_in(tree), 0U);
  EXPECT_TRUE(bait.intact());
}

TEST_F(Swaps, DoNotMakeCollectionReachOut) {
  const Bait bait(path("bait"));
  const std::string work = make("work");
  make("work/out");
  write_file(work + "/out/f", "mine");
  ASSERT_EQ(::symlink(bait.path().c_str(), (work + "/link").c_str()), 0);
  write_file(work + "/g", "mine");
  ASSERT_EQ(::symlink((bait.path() + "/g").c_str(), (work + "/glink").c_str()), 0);
  const auto exchange = [&](const char* a, const char* b) {
    ASSERT_EQ(
        ::renameat2(AT_FDCWD, (work + a).c_str(), AT_FDCWD, (work + b).c_str(), RENAME_EXCHANGE),
        0);
  };
  const Swapper swapper([&](int i) {
    i % 2 == 0 ? exchange("/out", "/link") : exchange("/g", "/glink");
    return 1;
  });

  const base::Fd top = open_directory(work);
  int collected = 0;
  for (int round = 0; swapper.swaps() < wanted_swaps(5'000) || collected == 0; ++round) {
    const std::string into = path("into" + std::to_string(round));
    const auto output = OutputDirectory::open(into);
    ASSERT_TRUE(output);
    const auto result = collect_files(top.get(), *output,
                                      {.globs = {"out/f", "link/f", "g", "glink"}, .into = into});
    ASSERT_TRUE(result);
    for (const std::string& file : result->files) {
      ++collected;
      ASSERT_EQ(content_of(into + "/" + file), "mine") << file;
    }
    const base::Fd done = open_directory(into);
    ASSERT_TRUE(empty_directory(done.get(), into, soon_enough()));
    ASSERT_EQ(::rmdir(into.c_str()), 0);
  }
}

}  // namespace
}  // namespace cordon::workdir
