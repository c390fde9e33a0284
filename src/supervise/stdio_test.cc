#include "supervise/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "support/needs_descriptors.h"

namespace cordon::supervise {
namespace {

using base::Fd;
using testing::HasSubstr;

bool same_file(int a, int b) {
  struct stat one{};
  struct stat two{};
  return ::fstat(a, &one) == 0 && ::fstat(b, &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

bool is_null(int fd) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return same_file(fd, null.get());
}

int mode_of(int fd) { return ::fcntl(fd, F_GETFL) & O_ACCMODE; }
bool blocks(int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }
bool closes_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

int lowest_free() {
  const Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return fd.get();
}

// Closes one of the caller's standard streams for a while. Nothing may be printed meanwhile.
class Closed {
 public:
  explicit Closed(int fd) : fd_(fd), saved_(::fcntl(fd, F_DUPFD_CLOEXEC, 100)) { ::close(fd_); }
  ~Closed() { ::dup2(saved_.get(), fd_); }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;

 private:
  int fd_;
  Fd saved_;
};

Request request(Input in, Output out, Output err) {
  Request r;
  r.program = "true";
  r.in = std::move(in);
  r.out = std::move(out);
  r.err = std::move(err);
  return r;
}

TEST(StdioTest, PipesForEachStream) {  // C44
  auto io = open_stdio(request(Input::pipe(), Output::events(), Output::events()));
  ASSERT_TRUE(io) << io.error().message;
  ASSERT_EQ(::write(io->stdin_writer.get(), "in", 2), 2);
  ASSERT_EQ(::write(io->child[1], "out", 3), 3);
  ASSERT_EQ(::write(io->child[2], "error", 5), 5);
  char text[16];
  EXPECT_EQ(::read(io->child[0], text, sizeof text), 2);
  EXPECT_EQ(::read(io->output[0].get(), text, sizeof text), 3);
  EXPECT_EQ(::read(io->output[1].get(), text, sizeof text), 5);
}

TEST(StdioTest, OurEndsDoNotBlockTheProgramsDo) {
  const auto io = open_stdio(request(Input::pipe(), Output::events(), Output::events()));
  ASSERT_TRUE(io);
  for (const int ours : {io->stdin_writer.get(), io->output[0].get(), io->output[1].get()}) {
    EXPECT_FALSE(blocks(ours));
    EXPECT_TRUE(closes_on_exec(ours));
    EXPECT_GE(ours, 64) << "low numbers are for what children get";
  }
  for (const int theirs : io->child) {
    EXPECT_TRUE(blocks(theirs));
    EXPECT_TRUE(closes_on_exec(theirs)) << "another child must not get it";
    EXPECT_LT(theirs, 64);
  }
}

TEST(StdioTest, BytesArriveByAPipe) {
  const auto io = open_stdio(request(Input::bytes("x"), Output::discard(), Output::discard()));
  ASSERT_TRUE(io);
  EXPECT_TRUE(io->stdin_writer);
  EXPECT_FALSE(is_null(io->child[0]));
}

TEST(StdioTest, NothingAndDiscardAreTheNullDevice) {
  const auto io = open_stdio(request(Input::none(), Output::discard(), Output::discard()));
  ASSERT_TRUE(io);
  for (const int fd : io->child) EXPECT_TRUE(is_null(fd));
  EXPECT_EQ(mode_of(io->child[0]), O_RDONLY);
  EXPECT_EQ(mode_of(io->child[1]), O_WRONLY);
  EXPECT_EQ(mode_of(io->child[2]), O_WRONLY);
  EXPECT_FALSE(io->stdin_writer);
  EXPECT_FALSE(io->output[0]);
  EXPECT_FALSE(io->output[1]);
}

TEST(StdioTest, InheritedStreamsAreTheCallersOwn) {
  const auto io = open_stdio(request(Input::inherit(), Output::inherit(), Output::inherit()));
  ASSERT_TRUE(io);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(io->child[static_cast<std::size_t>(i)], i);
    EXPECT_FALSE(io->owned[static_cast<std::size_t>(i)]) << "not ours to close";
  }
}

TEST(StdioTest, DescriptorsAreBorrowed) {  // C4 C5 C6
  const Fd file(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  {
    const auto io = open_stdio(
        request(Input::from_fd(file.get()), Output::to_fd(file.get()), Output::to_fd(file.get())));
    ASSERT_TRUE(io);
    for (const int fd : io->child) EXPECT_EQ(fd, file.get());
  }
  EXPECT_NE(::fcntl(file.get(), F_GETFD), -1);
}

TEST(StdioTest, ClosedInheritedStreamBecomesTheNullDevice) {
  for (int i = 0; i < 3; ++i) {
    bool ok = false;
    bool null = false;
    {
      const Closed closed(i);
      const auto io = open_stdio(request(Input::inherit(), Output::inherit(), Output::inherit()));
      ok = io.has_value();
      null = ok && is_null(io->child[static_cast<std::size_t>(i)]);
    }
    EXPECT_TRUE(ok) << i;
    EXPECT_TRUE(null) << i;
  }
}

TEST(StdioTest, PipeThatLandsOnAClosedStreamIsNotInherited) {
  // The stdin pipe gets the number 1 here: that does not make it the caller's stdout.
  bool ok = false;
  bool null = false;
  {
    const Closed closed(1);
    const auto io = open_stdio(request(Input::pipe(), Output::inherit(), Output::discard()));
    ok = io.has_value();
    null = ok && is_null(io->child[1]);
  }
  EXPECT_TRUE(ok);
  EXPECT_TRUE(null);
}

TEST(StdioTest, ClosedStderrDoesNotBecomeStdout) {
  // The stdout pipe gets the numbers 1 and 2 here.
  bool ok = false;
  bool null = false;
  {
    const Closed first(1);
    const Closed second(2);
    const auto io = open_stdio(request(Input::inherit(), Output::events(), Output::inherit()));
    ok = io.has_value();
    null = ok && is_null(io->child[2]);
  }
  EXPECT_TRUE(ok);
  EXPECT_TRUE(null);
}

TEST(StdioTest, ClosedDescriptorIsAnErrorThatNamesIt) {
  const struct {
    Request request;
    const char* stream;
  } cases[] = {
      {request(Input::from_fd(987), Output::events(), Output::events()), "stdin"},
      {request(Input::none(), Output::to_fd(987), Output::events()), "stdout"},
      {request(Input::none(), Output::events(), Output::to_fd(987)), "stderr"},
  };
  for (const auto& c : cases) {
    const auto io = open_stdio(c.request);
    ASSERT_FALSE(io) << c.stream;
    EXPECT_EQ(io.error().stage, "stdio");
    EXPECT_EQ(io.error().os_error, EBADF);
    EXPECT_THAT(io.error().message, HasSubstr("987"));
    EXPECT_THAT(io.error().message, HasSubstr(c.stream));
  }
}

TEST(StdioTest, PipeThatTakesTheNumberOfAClosedDescriptorDoesNotHideTheError) {
  const int free = lowest_free();
  EXPECT_FALSE(open_stdio(request(Input::pipe(), Output::to_fd(free), Output::events())));
  EXPECT_FALSE(open_stdio(request(Input::none(), Output::events(), Output::to_fd(free))));
}

TEST(StdioTest, FailureLeavesNoDescriptorOpen) {  // C74
  const int before = lowest_free();
  EXPECT_FALSE(open_stdio(request(Input::pipe(), Output::events(), Output::to_fd(987))));
  EXPECT_EQ(lowest_free(), before);
}

TEST(StdioTest, RunningOutOfDescriptorsIsWorthTryingLater) {
  CORDON_SKIP_IF_SANITIZER_NEEDS_DESCRIPTORS();
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
  rlimit tight = own;
  tight.rlim_cur = static_cast<rlim_t>(lowest_free());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto pipe = open_stdio(request(Input::pipe(), Output::events(), Output::events()));
  const auto null = open_stdio(request(Input::none(), Output::events(), Output::events()));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &own), 0);
  for (const auto* io : {&pipe, &null}) {
    ASSERT_FALSE(*io);
    EXPECT_EQ(io->error().code, ErrorCode::resource_exhausted);
    EXPECT_EQ(io->error().os_error, EMFILE);
    EXPECT_THAT(io->error().message, HasSubstr("RLIMIT_NOFILE"));
  }
}

class TerminalTest : public testing::Test {
 protected:
  TerminalTest() {
    Request r = request(Input::pipe(), Output::events(), Output::events());
    r.terminal = TerminalSize{.rows = 30, .columns = 100};
    io_ = open_stdio(r);
  }

  [[nodiscard]] static std::pair<int, int> size_of(int fd) {
    winsize size{};
    ::ioctl(fd, TIOCGWINSZ, &size);
    return {size.ws_row, size.ws_col};
  }

  Result<Stdio> io_ = Stdio{};
};

TEST_F(TerminalTest, IsAllThreeStreams) {
  ASSERT_TRUE(io_) << io_.error().message;
  for (const int fd : io_->child) {
    EXPECT_EQ(::isatty(fd), 1);
    EXPECT_EQ(fd, io_->child[0]);
  }
  EXPECT_FALSE(io_->output[1]) << "everything arrives as stdout";
  EXPECT_FALSE(blocks(io_->output[0].get()));
  EXPECT_TRUE(closes_on_exec(io_->output[0].get()));
  EXPECT_TRUE(closes_on_exec(io_->stdin_writer.get()));
  EXPECT_TRUE(closes_on_exec(io_->child[0]));
}

TEST_F(TerminalTest, CarriesInputAndOutput) {
  ASSERT_TRUE(io_);
  ASSERT_EQ(::write(io_->stdin_writer.get(), "hi\n", 3), 3);
  char text[16];
  ASSERT_EQ(::read(io_->child[0], text, sizeof text), 3);
  EXPECT_EQ(std::string(text, 3), "hi\n");
  const ssize_t echoed = ::read(io_->output[0].get(), text, sizeof text);
  ASSERT_GT(echoed, 0);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(echoed)), "hi\r\n");
}

TEST_F(TerminalTest, HasTheSizeAskedForAndCanBeResized) {
  ASSERT_TRUE(io_);
  EXPECT_EQ(size_of(io_->child[0]), std::pair(30, 100));
  ASSERT_TRUE(resize(io_->stdin_writer.get(), {.rows = 5, .columns = 7}));
  EXPECT_EQ(size_of(io_->child[0]), std::pair(5, 7));
}

TEST_F(TerminalTest, ResizingWhatIsNoTerminalIsAnError) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto resized = resize(null.get(), {});
  ASSERT_FALSE(resized);
  EXPECT_EQ(resized.error().os_error, ENOTTY);
  EXPECT_EQ(resized.error().stage, "terminal");
}

}  // namespace
}  // namespace cordon::supervise
