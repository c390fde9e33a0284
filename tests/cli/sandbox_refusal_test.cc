// Names that are none, sandboxes that are not there, and whom a supervisor does not listen to.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "sandbox_fixture.h"
#include "sandbox_messages.h"

namespace cordon::cli {
namespace {

using app::sandbox::Channel;
using app::sandbox::Kind;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Duration kAnswer = std::chrono::seconds(10);

class SandboxRefusal : public SandboxTest {
 protected:
  [[nodiscard]] std::string socket() const { return place() + "/box/socket"; }
  [[nodiscard]] base::Fd raw() const {
    base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << socket();
    return fd;
  }
  static std::string refusal_on(base::Fd fd) {
    Channel channel(std::move(fd));
    const auto answer = channel.receive(kAnswer);
    if (!answer || answer->kind != Kind::refused) return "not refused";
    const auto error = app::sandbox::from_bytes<Error>(answer->bytes);
    return error ? error->message : "not understood";
  }
};

TEST_F(SandboxRefusal, OfNamesThatAreNone) {
  for (const char* const name : {"", ".", "..", "../x", "a/b", "/abs", "a b", "a\nb", "-x", "Box",
                                 "\xc3\xa4", ".hidden", "a:b"}) {
    const Ended refused = sandbox({"create", "--", name, "sleep", "1000"});
    EXPECT_EQ(refused.status, 125) << name;
    EXPECT_THAT(refused.err, HasSubstr("cordon: ")) << name;
  }
  EXPECT_EQ(sandbox({"create", std::string(65, 'a'), "--", "true"}).status, 125);
  EXPECT_THAT(sandbox({"create", "Box", "--", "true"}).err, HasSubstr("capital"));
  EXPECT_FALSE(std::filesystem::exists(place() + "/Box"));
}

TEST_F(SandboxRefusal, OfOptionsThatAreNoneSaysWhyAndWhatToDo) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--secret", "A=env:HOME"}, "use cordon run"},
      {{"--workdir"}, "--write DIR"},
      {{"--explain"}, "cordon run --explain"},
      {{"--log", "x"}, "cordon sandbox logs"}};
  for (const auto& [options, advice] : cases) {
    for (const char* const verb : {"create", "exec"}) {
      std::vector<std::string> arguments = {verb};
      arguments.insert(arguments.end(), options.begin(), options.end());
      arguments.insert(arguments.end(), {"box", "--", "true"});
      const Ended refused = sandbox(arguments);
      EXPECT_EQ(refused.status, 125) << verb << options.front();
      EXPECT_THAT(refused.err, HasSubstr(options.front() + ": ")) << verb;
      EXPECT_THAT(refused.err, HasSubstr(advice)) << verb << options.front();
    }
  }
  const Ended more = sandbox({"exec", "--write", "/usr", "box", "--", "true"});
  EXPECT_EQ(more.status, 125);
  EXPECT_THAT(more.err, HasSubstr("--write: that is the same for everybody"));
}

TEST_F(SandboxRefusal, OfASandboxThatLacksWhatIsRequired) {
  const Ended lacking = sandbox({"create", "--cwd", path("work"), "--net", "host", "--require",
                                 "network", "box", "--", "sleep", "1000"});
  EXPECT_EQ(lacking.status, 125);
  EXPECT_THAT(lacking.err, HasSubstr("--require"));
  EXPECT_EQ(state(), "absent");
  create("sleep 1000", {"--require", "filesystem,network"});
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfANameThatIsTaken) {
  create("sleep 1000");
  const Ended again = sandbox({"create", "--cwd", path("work"), "box", "--", "sleep", "1"});
  EXPECT_EQ(again.status, 125);
  EXPECT_THAT(again.err, HasSubstr("there is a sandbox 'box' already"));
  EXPECT_EQ(exec("true").status, 0);
  EXPECT_EQ(sandbox({"stop", "box"}).status, 0);
  const Ended stopped = sandbox({"create", "--cwd", path("work"), "box", "--", "sleep", "1"});
  EXPECT_EQ(stopped.status, 125);
  EXPECT_THAT(stopped.err, HasSubstr("which is stopped"));
}

TEST_F(SandboxRefusal, OfAllButOneWhoWantTheSameName) {
  std::vector<Running> racing;
  racing.reserve(8);
  for (int i = 0; i < 8; ++i) {
    racing.push_back(
        command({"create", "--cwd", path("work"), "box", "--", "sleep", "1000"}).start());
  }
  int made = 0;
  for (Running& one : racing) {
    const Ended ended = one.wait();
    if (ended.status == 0) {
      ++made;
    } else {
      EXPECT_THAT(ended.err, HasSubstr("already"));
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_THAT(names(), ElementsAre("box"));
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfWhatIsNotThere) {
  struct Case {
    std::vector<std::string> arguments;
    int status;
  };
  for (const Case& c : {Case{{"exec", "box", "--", "true"}, 125}, Case{{"connect", "box"}, 125},
                        Case{{"ps", "box"}, 1}, Case{{"logs", "box"}, 1}, Case{{"stop", "box"}, 1},
                        Case{{"checkpoint", "box", path("image")}, 1}}) {
    const Ended refused = sandbox(c.arguments);
    EXPECT_EQ(refused.status, c.status) << c.arguments.front();
    EXPECT_THAT(refused.err, HasSubstr("no sandbox 'box'")) << c.arguments.front();
  }
  create("sleep 1000");
  EXPECT_EQ(sandbox({"connect", "box", "7"}).status, 125);
  EXPECT_EQ(sandbox({"logs", "box", "7"}).status, 1);
}

TEST_F(SandboxRefusal, OfWhatIsNotPossibleInItsState) {
  create("sleep 1000");
  EXPECT_EQ(sandbox({"stop", "box"}).status, 0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"exec", "box", "--", "true"}, {"connect", "box"}}) {
    const Ended refused = sandbox(arguments);
    EXPECT_EQ(refused.status, 125);
    EXPECT_THAT(refused.err, HasSubstr("'box' is stopped, so " + arguments.front()));
    EXPECT_THAT(refused.err, HasSubstr("ls, ps, logs and rm are possible"));
  }
}

TEST_F(SandboxRefusal, OfMoreThanTheSandboxHas) {
  create("sleep 1000", {"--memory", "64M"});
  const Ended refused = sandbox({"exec", "--memory", "1G", "box", "--", "true"});
  EXPECT_EQ(refused.status, 126) << refused.err;
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfABackendThatThePolicyDoesNotAllow) {
  for (const auto& [allowed, asked] : {std::pair{"linux", "gvisor"}, {"gvisor", "linux"}}) {
    const std::string policy =
        file(std::string(allowed) + ".toml", std::string("backends = [\"") + allowed + "\"]\n");
    const Ended refused = sandbox({"create", "--policy", policy, "--backend", asked, "--cwd",
                                   path("work"), "box", "--", "sleep", "1000"});
    EXPECT_EQ(refused.status, 126) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("backend")) << asked;
    EXPECT_EQ(state(), "absent");
  }
  create("sleep 1000");
  const Ended inside = sandbox({"exec", "--policy", path("gvisor.toml"), "box", "--", "true"});
  EXPECT_EQ(inside.status, 126) << inside.err;
}

TEST_F(SandboxRefusal, OfAnotherUser) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can become somebody else");
  create("sleep 1000");
  // Let in by everything but the supervisor itself.
  std::filesystem::path opened = directory();
  for (const char* const name : {"", "runtime", "cordon", "sandboxes", "box", "socket"}) {
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
  EXPECT_THAT(text, HasSubstr("this sandbox is of user 0, not of 1234"));
  for (; opened != directory().parent_path(); opened = opened.parent_path()) {
    ASSERT_EQ(::chmod(opened.c_str(), 0700), 0);
  }
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfOtherNamespaces) {
  create("sleep 1000");
  const auto through = [](std::vector<std::string> program) {
    program.insert(program.end(), {CORDON_COMMAND, "sandbox", "exec", "box", "--", "true"});
    return Command::program(std::move(program)).run();
  };
  const Ended user = through({"unshare", "--user", "--map-current-user"});
  EXPECT_EQ(user.status, 126) << user.err;
  EXPECT_THAT(user.err, HasSubstr("in another user namespace"));
  if (::geteuid() == 0) {
    const Ended pid = through({"unshare", "--pid", "--fork"});
    EXPECT_EQ(pid.status, 126) << pid.err;
    EXPECT_THAT(pid.err, HasSubstr("in another pid namespace"));
  }
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfASandboxedProgramThatGotAtTheSocket) {
  create("sleep 1000");
  // By a door that no plan knows of: the socket under another name.
  const std::string door = path("door");
  std::filesystem::create_directory(door);
  std::filesystem::create_hard_link(socket(), door + "/socket");
  const Ended inside =
      Command({"run", "--pool", "off", "--cwd", path("work"), "--read", door, "--", "python3", "-c",
               "import socket, sys\n"
               "s = socket.socket(socket.AF_UNIX)\n"
               "s.connect('" +
                   door +
                   "/socket')\n"
                   "sys.stdout.write(repr(s.recv(4096)))"})
          .run();
  if (inside.err.find("not found") != std::string::npos) CORDON_SKIP("python3", "no python3");
  EXPECT_THAT(inside.out, AnyOf(HasSubstr("namespace"), HasSubstr("this sandbox is of user")))
      << inside.err;
}

TEST_F(SandboxRefusal, NoSandboxSeesTheStore) {
  create("sleep 1000", {"--read", path("runtime")});
  EXPECT_EQ(exec("find " + path("runtime") + "/cordon -mindepth 1").out, "");
  const Ended named = Command({"run", "--pool", "off", "--read", place(), "--", "true"}).run();
  EXPECT_EQ(named.status, 125);
  EXPECT_THAT(named.err, HasSubstr("is Cordon's own"));
}

TEST_F(SandboxRefusal, OfWhatIsNoMessage) {
  create("sleep 1000");
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    base::Fd fd = raw();
    std::string noise(1 + random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    ASSERT_GT(::send(fd.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
    ASSERT_EQ(::shutdown(fd.get(), SHUT_WR), 0);
    char byte = 0;
    while (::recv(fd.get(), &byte, 1, 0) > 0) {
    }
  }
  // Messages in an order that makes no sense.
  for (const Kind kind : {Kind::exec, Kind::input, Kind::ended, Kind::signal, Kind::stop}) {
    Channel channel(raw());
    ASSERT_TRUE(channel.send(kind, app::sandbox::Nothing{}, kAnswer));
    const auto answer = channel.receive(kAnswer);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind, Kind::refused);
  }
  EXPECT_EQ(exec("true").status, 0);
}

TEST_F(SandboxRefusal, OfADifferentVersion) {
  create("sleep 1000");
  Channel channel(raw());
  ASSERT_TRUE(channel.send(Kind::hello, app::sandbox::Hello{.version = "0.0.0-other"}, kAnswer));
  const auto answer = channel.receive(kAnswer);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->kind, Kind::refused);
  EXPECT_THAT(app::sandbox::from_bytes<Error>(answer->bytes)->message, HasSubstr("0.0.0-other"));
}

TEST_F(SandboxRefusal, OfADamagedRecord) {
  create("sleep 1000");
  EXPECT_EQ(sandbox({"stop", "box"}).status, 0);
  std::filesystem::permissions(place() + "/box/record", std::filesystem::perms::owner_all);
  ASSERT_EQ(::truncate((place() + "/box/record").c_str(), 20), 0);
  const Ended looked = sandbox({"ps", "box"});
  EXPECT_EQ(looked.status, 125);
  EXPECT_THAT(looked.err, HasSubstr("damaged"));
  EXPECT_EQ(sandbox({"ls"}).status, 0);
  EXPECT_EQ(sandbox({"rm", "box"}).status, 0);
}

}  // namespace
}  // namespace cordon::cli
