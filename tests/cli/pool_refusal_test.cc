// Whom the service of a pool does not work for, and that no sandbox gets at it.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "pool_channel.h"
#include "pool_fixture.h"

namespace cordon::cli {
namespace {

using app::pool::Channel;
using app::pool::Kind;
using app::pool::Refused;
using testing::AnyOf;
using testing::HasSubstr;

constexpr Duration kAnswer = std::chrono::seconds(10);

class PoolRefusal : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    service_ = start();
  }
  // "cordon run --pool only" by way of another program, e.g. unshare.
  [[nodiscard]] Ended through(std::vector<std::string> program) const {
    program.insert(program.end(),
                   {CORDON_COMMAND, "run", "--pool", "only", "--cwd", path("work"), "--", "true"});
    return Command::program(std::move(program)).run();
  }
  void expect_alive() const {
    EXPECT_EQ(number("pid"), service_);
    EXPECT_EQ(pooled("only", {"--", "true"}).run().status, 0);
  }

  int service_ = 0;
};

std::string refusal_on(base::Fd fd) {
  Channel channel(std::move(fd));
  const auto answer = channel.receive(kAnswer);
  if (!answer || answer->kind != Kind::refused) return "not refused";
  const auto refused = app::pool::from_bytes<Refused>(answer->bytes);
  // Nothing follows, and the connection is closed.
  const auto rest = channel.receive(kAnswer);
  if (rest || rest.error().code != ErrorCode::closed) return "not closed";
  return refused ? refused->message : "not understood";
}

TEST_F(PoolRefusal, OfAnotherUser) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can become somebody else");
  // Let in by everything but the service itself.
  std::filesystem::path opened = directory();
  for (const char* const name : {"", "runtime", "cordon", "pool", "socket"}) {
    if (*name != '\0') opened /= name;
    ASSERT_EQ(::chmod(opened.c_str(), 0777), 0);
  }
  int said[2];
  ASSERT_EQ(::pipe2(said, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0) ::_exit(1);
    const std::string message = refusal_on(raw());
    ::_exit(::write(said[1], message.data(), message.size()) > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  char text[256] = {};
  ASSERT_GT(::read(said[0], text, sizeof text - 1), 0);
  ::close(said[0]);
  ::close(said[1]);
  EXPECT_THAT(text, HasSubstr("this pool is of user 0, not of 1234"));
  // And a client of another user does not believe this service.
  const Ended client = through({"setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"});
  EXPECT_EQ(client.status, 125);
  for (; opened != directory().parent_path(); opened = opened.parent_path()) {
    ASSERT_EQ(::chmod(opened.c_str(), 0700), 0);
  }
  expect_alive();
}

TEST_F(PoolRefusal, OfAnotherPidNamespace) {
  const std::vector<std::string> unshare =
      ::geteuid() == 0 ? std::vector<std::string>{"unshare", "--pid", "--fork"}
                       : std::vector<std::string>{"unshare", "--user", "--pid", "--fork"};
  const Ended ended = through(unshare);
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, AnyOf(HasSubstr("in another pid namespace"),
                               HasSubstr("in another user namespace"), HasSubstr("not yours")));
  if (::geteuid() == 0) {
    EXPECT_THAT(ended.err, HasSubstr("in another pid namespace"));
  }
  expect_alive();
}

TEST_F(PoolRefusal, OfAnotherUserNamespace) {
  const Ended ended = through({"unshare", "--user", "--map-current-user"});
  EXPECT_EQ(ended.status, 125);
  EXPECT_THAT(ended.err, HasSubstr("in another user namespace"));
  expect_alive();
}

TEST_F(PoolRefusal, OfASandboxedProgramThatGotAtTheSocket) {
  // By a door that no plan knows of: the socket's directory under another name.
  const std::string door = path("door");
  std::filesystem::create_directory(door);
  std::filesystem::create_hard_link(socket(), door + "/socket");
  const Ended inside = pooled("off", {"--read", door, "--", "python3", "-c",
                                      "import socket, sys\n"
                                      "s = socket.socket(socket.AF_UNIX)\n"
                                      "s.connect('" +
                                          door +
                                          "/socket')\n"
                                          "sys.stdout.write(repr(s.recv(4096)))"})
                           .run();
  if (inside.err.find("not found") != std::string::npos) CORDON_SKIP("python3", "no python3");
  EXPECT_THAT(inside.out, AnyOf(HasSubstr("namespace"), HasSubstr("this pool is of user")))
      << inside.err;
  expect_alive();
}

TEST_F(PoolRefusal, OfWhatWouldNotBeTheSameRun) {
  struct Case {
    const char* change;
    const char* what;
  };
  for (const Case& c :
       {Case{"umask 077", "umask"}, Case{"ulimit -c 0; ulimit -n 500", "resource limits"},
        Case{"export HOME=/elsewhere", "HOME"}, Case{"export TMPDIR=/elsewhere", "TMPDIR"},
        Case{"renice -n 3 $$ >/dev/null", "niceness"}}) {
    const std::string script = std::string(c.change) + "; exec \"$@\"";
    const Ended ended = through({"sh", "-c", script, "sh"});
    EXPECT_EQ(ended.status, 125) << c.change;
    EXPECT_THAT(ended.err, HasSubstr(std::string("its ") + c.what)) << c.change;
    // Asked less strictly, it runs, and keeps what it came with.
    const Ended usual = Command::program({"sh", "-c", script, "sh", CORDON_COMMAND, "run", "--cwd",
                                          path("work"), "--", "sh", "-c", "umask"})
                            .run();
    EXPECT_EQ(usual.status, 0) << usual.err;
    if (std::string(c.what) == "umask") {
      EXPECT_EQ(usual.out, "0077\n");
    }
  }
  if (::geteuid() == 0) {
    EXPECT_THAT(through({"setpriv", "--groups", "4321"}).err, HasSubstr("supplementary groups"));
    EXPECT_THAT(through({"unshare", "--mount"}).err, HasSubstr("mount namespace"));
    EXPECT_THAT(through({"unshare", "--net"}).err, HasSubstr("network namespace"));
    EXPECT_THAT(through({"setpriv", "--no-new-privs"}).err, HasSubstr("no_new_privs"));
    EXPECT_THAT(through({"setpriv", "--bounding-set", "-sys_boot"}).err, HasSubstr("capabilities"));
  }
  expect_alive();
}

TEST_F(PoolRefusal, NoSandboxSeesTheSocket) {
  const std::string pool = path("runtime/cordon/pool");
  // Asked for by name it is refused; with something above it, it is not there.
  for (const std::string& name : {pool, path("runtime/cordon"), socket()}) {
    for (const char* const option : {"--read", "--write"}) {
      const Ended refused = pooled("off", {option, name, "--", "true"}).run();
      EXPECT_EQ(refused.status, 125) << name;
      EXPECT_THAT(refused.err, HasSubstr("is Cordon's own")) << name;
    }
    const Ended there = Command({"run", "--pool", "off", "--cwd", name, "--", "true"}).run();
    EXPECT_EQ(there.status, 125);
  }
  for (const std::string& above : {path("runtime"), directory().string()}) {
    for (const char* const option : {"--read", "--write"}) {
      for (const char* const when : {"off", "only"}) {
        const Ended hidden = pooled(when, {option, above, "--", "find", path("runtime")}).run();
        EXPECT_EQ(hidden.status, 0) << hidden.err;
        EXPECT_THAT(hidden.out, HasSubstr("runtime/cordon\n"));
        EXPECT_THAT(hidden.out, testing::Not(HasSubstr("pool"))) << option << ' ' << above;
      }
    }
  }
  const Ended as_cwd =
      Command({"run", "--pool", "off", "--cwd", path("runtime"), "--", "find", "."}).run();
  EXPECT_EQ(as_cwd.status, 0) << as_cwd.err;
  EXPECT_EQ(as_cwd.out, ".\n./cordon\n");
}

TEST_F(PoolRefusal, OfAPlaceThatOthersCouldEnter) {
  const auto reaches_it = [&] {
    const Ended status = cordon({"pool", "status", "--json"});
    return status.status == 0 && parse(status.out).at("pid").as_int64() == service_;
  };
  ASSERT_TRUE(reaches_it());
  for (const char* const name : {"runtime", "runtime/cordon", "runtime/cordon/pool"}) {
    const std::string place = path(name);
    ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
    EXPECT_FALSE(reaches_it()) << name;
    ASSERT_EQ(::chmod(place.c_str(), 0700), 0);
    if (::geteuid() != 0) continue;
    ASSERT_EQ(::chown(place.c_str(), 1234, 0), 0);
    EXPECT_FALSE(reaches_it()) << name;
    ASSERT_EQ(::chown(place.c_str(), 0, 0), 0);
  }
  expect_alive();
}

TEST_F(PoolRefusal, OfWhatIsNoMessage) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(64, '\0'), std::string(1000, '\xff')}) {
    base::Fd fd = raw();
    ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_THAT(refusal_on(std::move(fd)), HasSubstr("this is no message"));
  }
  Channel started(raw());
  ASSERT_TRUE(started.send(Kind::started, app::pool::Started{}, kAnswer));
  const auto answer = started.receive(kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::refused);
  // Gone without a word, or in the middle of one.
  raw().reset();
  base::Fd cut = raw();
  ASSERT_EQ(::write(cut.get(), "crdn", 4), 4);
  cut.reset();
  expect_alive();
}

TEST_F(PoolRefusal, OfRequestsThatAreCutOrChanged) {
  Request request;
  request.program = "/bin/true";
  request.args = {"a", "b"};
  request.env = {{"NAME", "value"}};
  request.env_pass = {};
  request.cwd = path("work");
  request.grants = {Grant::read("/usr")};
  request.limits.memory_bytes = 64 * 1024 * 1024;
  const std::string whole = app::pool::to_bytes(request);
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::array<int, 3> streams = {null.get(), null.get(), null.get()};
  std::mt19937 random(4711);  // NOLINT(*-msc51-cpp): the same every time

  int understood = 0;
  for (int attempt = 0; attempt < 120; ++attempt) {
    std::string bytes = whole;
    if (attempt % 2 == 0) {
      bytes.resize(random() % whole.size());
    } else {
      for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    Channel channel(raw());
    ASSERT_TRUE(channel.send(Kind::reserve, reserve(), kAnswer));
    const auto ready = channel.receive(kAnswer);
    ASSERT_TRUE(ready);
    ASSERT_EQ(ready->kind, Kind::ready);
    ASSERT_TRUE(channel.send(Kind::run, bytes, streams, kAnswer));
    const auto answer = channel.receive(kAnswer);
    ASSERT_TRUE(answer) << answer.error().message;
    if (answer->kind != Kind::refused) ++understood;  // changed to something else that makes sense
    if (attempt % 2 == 0) {
      EXPECT_EQ(answer->kind, Kind::refused) << bytes.size();
    }
  }
  EXPECT_LT(understood, 60);
  // Streams that are missing.
  Channel channel(raw());
  ASSERT_TRUE(channel.send(Kind::reserve, reserve(), kAnswer));
  ASSERT_TRUE(channel.receive(kAnswer));
  ASSERT_TRUE(channel.send(Kind::run, whole, {}, kAnswer));
  const auto answer = channel.receive(kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::refused);
  expect_alive();
}

}  // namespace
}  // namespace cordon::cli
