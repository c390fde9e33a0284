// Images that are not what they were, places where none can be written.
#include <sys/inotify.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "base/fd.h"
#include "gvisor/harness.h"

namespace cordon::gvisor_tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GvisorImage : public GvisorTest {
 protected:
  void SetUp() override {
    GvisorTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (const std::string why = engine().no_checkpoint(); !why.empty()) GTEST_SKIP() << why;
  }
  void write_image() {
    const auto container = create(counter());
    const auto done = container->checkpoint({.image = image("image")});
    ASSERT_TRUE(done) << done.error().message;
  }
  [[nodiscard]] Error refusal(Request request, std::string sandbox_id = "box") {
    auto restored =
        engine().restore(spec(std::move(request), std::move(sandbox_id)), image("image"));
    return restored ? Error{.message = "restored"} : restored.error();
  }
  // Whatever the byte was, it is another now.
  void damage(const fs::path& file, std::streamoff at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 1));
  }
};

TEST_F(GvisorImage, DamagedOnesAreRefused) {
  write_image();
  const fs::path file = image("image") / "checkpoint.img";
  const auto size = fs::file_size(file);
  fs::copy_file(file, root() / "copy");

  damage(file, static_cast<std::streamoff>(size / 2));
  EXPECT_EQ(refusal(counter()).code, ErrorCode::invalid_argument);
  EXPECT_THAT(refusal(counter()).message, HasSubstr("changed"));

  fs::resize_file(file, size - 1);
  EXPECT_THAT(refusal(counter()).message, HasSubstr("bytes instead of"));

  fs::remove(file);
  EXPECT_THAT(refusal(counter()).message, HasSubstr("missing"));

  fs::copy_file(root() / "copy", file);
  EXPECT_EQ(refusal(counter()).message, "restored") << "it was the damage";
}

// runsc waits for the verification before it opens the file.
TEST_F(GvisorImage, NobodyButUsOpensADamagedOne) {
  write_image();
  const fs::path file = image("image") / "checkpoint.img";
  const base::Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(::inotify_add_watch(watch.get(), file.c_str(), IN_OPEN | IN_ACCESS), 0);
  const auto opened = [&] {
    alignas(inotify_event) std::array<char, 4096> events{};
    std::size_t count = 0;
    for (ssize_t size = 0; (size = ::read(watch.get(), events.data(), events.size())) > 0;) {
      for (ssize_t at = 0; at < size; at += sizeof(inotify_event)) {  // none has a name
        inotify_event event{};
        std::memcpy(&event, events.data() + at, sizeof event);
        count += (event.mask & IN_OPEN) != 0 ? 1 : 0;
      }
    }
    return count;
  };
  EXPECT_EQ(refusal(counter()).message, "restored");
  EXPECT_EQ(opened(), 2U) << "we, and runsc";

  damage(file, static_cast<std::streamoff>(fs::file_size(file) / 2));
  (void)opened();
  EXPECT_THAT(refusal(counter()).message, HasSubstr("changed"));
  EXPECT_EQ(opened(), 1U) << "only we";
}

TEST_F(GvisorImage, OthersAreRefused) {
  write_image();
  EXPECT_THAT(refusal(counter(), "another").message, HasSubstr("another"));
  Request request = counter();
  request.grants = {Grant::read("/usr/share")};
  EXPECT_EQ(refusal(request).code, ErrorCode::invalid_argument);

  const fs::path manifest = image("image") / "manifest.json";
  std::ifstream file(manifest);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text.replace(text.find("\"runsc\":\"") + 9, 1, "9");
  std::ofstream(manifest) << text;
  EXPECT_EQ(refusal(counter()).code, ErrorCode::unsupported);
  EXPECT_THAT(refusal(counter()).message, HasSubstr("runsc"));

  std::ofstream(manifest) << "{";
  EXPECT_EQ(refusal(counter()).code, ErrorCode::invalid_argument);
  fs::remove_all(image("image"));
  EXPECT_NE(refusal(counter()).message, "restored");
}

TEST_F(GvisorImage, PlaceThatIsTakenIsRefusedAndTheSandboxGoesOn) {
  const auto container = create(counter());
  fs::create_directory(image("full"));
  std::ofstream(image("full") / "something") << "x";
  const auto done = container->checkpoint({.image = image("full")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(container->checkpoint({.image = image("no") / "such" / "place"}));
  EXPECT_EQ(exec(*container, "exit 5").outcome.exit_code, 5);
  fs::create_directory(image("empty"));
  EXPECT_TRUE(container->checkpoint({.image = image("empty")}));
}

TEST_F(GvisorImage, FullDiskLeavesTheSandboxRunning) {
  if (::geteuid() != 0) GTEST_SKIP() << "root: to mount a small file system";
  fs::create_directory(image("small"));
  ASSERT_EQ(::mount("tmpfs", image("small").c_str(), "tmpfs", 0, "size=1m"), 0);
  const auto container = create(counter());
  const auto done = container->checkpoint({.image = image("small") / "image"});
  EXPECT_FALSE(done);
  EXPECT_TRUE(fs::is_empty(image("small")));
  EXPECT_EQ(::umount2(image("small").c_str(), MNT_DETACH), 0);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().os_error, ENOSPC);
  EXPECT_EQ(container->broken(), "");
  EXPECT_EQ(exec(*container, "exit 5").outcome.exit_code, 5);
}

}  // namespace
}  // namespace cordon::gvisor_tests
