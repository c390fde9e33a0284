// Somebody puts something else in the place of what is shown, after it was looked at and before
// runsc opens it.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "backend/gvisor/gvisor_backend.h"
#include "backend/gvisor/runsc.h"
#include "cordon/run.h"
#include "gvisor/harness.h"
#include "supervise/supervising_manager.h"

namespace cordon::gvisor_tests {
namespace {

namespace fs = std::filesystem;

class GvisorSwap : public GvisorTest {
 protected:
  void SetUp() override {
    GvisorTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (::geteuid() != 0) {
      CORDON_SKIP_WITHOUT("root", "an ordinary user's runsc opens what is shown by name");
    }
    ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
    for (const char* name : {"shown", "outside"}) fs::create_directories(root() / name / "below");
    for (const char* name : {"secret", "below/secret"}) {
      std::ofstream(root() / "shown" / name) << "harmless\n";
      std::ofstream(root() / "outside" / name) << "secret\n";
    }
  }

  // A runsc before which somebody else has had the time to act: the attack always comes in time.
  [[nodiscard]] gvisor_backend::Runsc attacked(const std::string& act) {
    auto runsc = gvisor_backend::find_runsc();
    EXPECT_TRUE(runsc);
    const fs::path script = root() / "runsc";
    std::ofstream(script) << "#!/bin/sh\ncase \" $* \" in *' run '*) cd " << root().string()
                          << " && " << act << ";; esac\nexec " << runsc->path << " \"$@\"\n";
    fs::permissions(script, fs::perms::owner_all);
    runsc->path = script;
    return *std::move(runsc);
  }
  [[nodiscard]] static std::string seen(gvisor_backend::Runsc runsc, const Request& request) {
    supervise::SupervisingManager manager(gvisor_backend::GvisorBackend::make(std::move(runsc)));
    const Outcome outcome = run(manager, request);
    return outcome.error ? outcome.error->message : outcome.out + outcome.err;
  }
  [[nodiscard]] Request shows(Grant grant, const std::string& file) {
    Request request = script("cat " + file);
    request.out = Output::events();
    request.err = Output::events();
    request.grants = {std::move(grant)};
    return request;
  }

  // The attack, and whether what was opened is mounted for runsc.
  void expect_seen(const std::string& act, const Request& request, bool pins,
                   const std::string& text) {
    gvisor_backend::Runsc runsc = attacked(act);
    runsc.pins = pins;
    EXPECT_EQ(seen(std::move(runsc), request), text);
    EXPECT_TRUE(fs::exists(root() / "kept")) << "the attack was not made";
  }
};

constexpr const char* kSwapDirectory = "mv shown kept && ln -s outside shown";
constexpr const char* kSwapFile = "mv shown/secret kept && ln -s ../outside/secret shown/secret";

TEST_F(GvisorSwap, GrantedDirectoryIsTheOneThatWasLookedAt) {
  const Request request =
      shows(Grant::read((root() / "shown").string()), (root() / "shown" / "secret").string());
  expect_seen(kSwapDirectory, request, true, "harmless\n");
}
TEST_F(GvisorSwap, AnotherDirectoryWouldBeSeenByName) {
  const Request request =
      shows(Grant::read((root() / "shown").string()), (root() / "shown" / "secret").string());
  expect_seen(kSwapDirectory, request, false, "secret\n");
}

TEST_F(GvisorSwap, DirectoryAboveTheGrantDoesNotMatterAnyMore) {
  const Request request = shows(
      Grant::bind((root() / "shown/below").string(), "/data", Grant::Kind::read), "/data/secret");
  expect_seen(kSwapDirectory, request, true, "harmless\n");
}
TEST_F(GvisorSwap, DirectoryAboveTheGrantWouldLeadElsewhereByName) {
  const Request request = shows(
      Grant::bind((root() / "shown/below").string(), "/data", Grant::Kind::read), "/data/secret");
  expect_seen(kSwapDirectory, request, false, "secret\n");
}

TEST_F(GvisorSwap, GrantedFileIsTheOneThatWasLookedAt) {
  const Request request =
      shows(Grant::bind((root() / "shown/secret").string(), "/note", Grant::Kind::read), "/note");
  expect_seen(kSwapFile, request, true, "harmless\n");
}
TEST_F(GvisorSwap, AnotherFileWouldBeSeenByName) {
  const Request request =
      shows(Grant::bind((root() / "shown/secret").string(), "/note", Grant::Kind::read), "/note");
  expect_seen(kSwapFile, request, false, "secret\n");
}

TEST_F(GvisorSwap, NothingIsMountedForAnybodyElse) {
  const Request request =
      shows(Grant::read((root() / "shown").string()), "/proc/self/comm; sleep 1000");
  auto container = engine().create(spec(request));
  ASSERT_TRUE(container) << container.error().message;
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string text((std::istreambuf_iterator<char>(mounts)), {});
  EXPECT_EQ(text.find("/sources/"), std::string::npos);
  container->reset();
  EXPECT_TRUE(fs::exists(root() / "shown/below/secret"));
}

}  // namespace
}  // namespace cordon::gvisor_tests
