#include "mcp/http/socket.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "mcp/http/front_fixture.h"

namespace cordon::mcp {
namespace {

using testing::HasSubstr;

class HttpSocketTest : public HttpFrontTest {
 protected:
  HttpSocketTest() {
    std::string pattern = testing::TempDir() + "/cordon-http-XXXXXX";
    directory = ::mkdtemp(pattern.data());
    path = directory / "socket";
  }
  ~HttpSocketTest() override { std::filesystem::remove_all(directory); }

  [[nodiscard]] std::string refusal() const {
    const auto made = HttpSocket::listen({.path = path});
    return made ? "" : made.error().message;
  }

  std::filesystem::path directory;
  std::string path;
};

TEST_F(HttpSocketTest, ServesItsOwnerOnASocketOfTheFileSystem) {
  start({.listen = {{.path = path}}});
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  HttpClient asks = client();
  asks.send(post("1"));
  EXPECT_THAT(asks.answer(), HasSubstr("{\"got\":\"1\"}"));
  HttpClient foreign = client();
  foreign.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_THAT(foreign.answer(), HasSubstr("HTTP/1.1 403 "));
  EXPECT_THAT(refusal(), HasSubstr("is in use"));
  stop();
  EXPECT_FALSE(std::filesystem::exists(path)) << "it goes with the front";
}

TEST_F(HttpSocketTest, NoticesThatAClientOfASocketIsGone) {
  std::shared_ptr<Reply> held;
  std::atomic<bool> gone = false;
  handler.script = [&](const Ask&, std::shared_ptr<Reply> reply) {
    reply->when_gone([&] { gone = true; });
    held = std::move(reply);
  };
  start({.listen = {{.path = path}}});
  HttpClient asks = client();
  asks.send(post("1"));
  ASSERT_TRUE(handler.wait_for(1));
  asks.close();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST_F(HttpSocketTest, ReplacesASocketThatNobodyListensOn) {
  {
    const base::Fd left(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::ranges::copy(path, std::begin(name.sun_path));
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(refusal(), "");
}

TEST_F(HttpSocketTest, LeavesAloneWhatIsNoSocket) {
  std::ofstream(path) << "mine";
  EXPECT_THAT(refusal(), HasSubstr("is no socket"));
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink("elsewhere", path);
  EXPECT_THAT(refusal(), HasSubstr("is no socket"));
}

TEST_F(HttpSocketTest, LeavesAloneASocketThatAnotherHasPutInItsPlace) {
  auto first = HttpSocket::listen({.path = path});
  ASSERT_TRUE(first);
  std::filesystem::remove(path);
  auto second = HttpSocket::listen({.path = path});
  ASSERT_TRUE(second);
  {
    const HttpSocket gone = *std::move(first);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(HttpSocketTest, RefusesADirectoryThatOthersCanChange) {
  std::filesystem::permissions(directory, std::filesystem::perms(0777));
  EXPECT_THAT(refusal(), HasSubstr("pose as this server"));
  std::filesystem::permissions(directory, std::filesystem::perms(01777));
  EXPECT_THAT(refusal(), HasSubstr("pose as this server"));
}

TEST_F(HttpSocketTest, APortThatIsTakenIsAnError) {
  const auto first = HttpSocket::listen({.host = "127.0.0.1"});
  ASSERT_TRUE(first);
  EXPECT_NE(first->address().port, 0);
  const auto second = HttpSocket::listen(first->address());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::wrong_state);
  EXPECT_THAT(second.error().message, HasSubstr("is in use"));
}

TEST_F(HttpSocketTest, ListensOnAddressesOfOthersOnlyWhenTold) {
  boost::asio::io_context loop;
  const auto refused = HttpFront::open(loop, handler, {.listen = {{.host = "0.0.0.0"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(HttpFront::open(loop, handler, {.listen = {{.host = "0.0.0.0"}}, .remote = true}));
}

TEST(HttpAddressTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(read_http_address("127.0.0.1:8808")->port, 8808);
  EXPECT_EQ(read_http_address("8808")->host, "127.0.0.1");
  EXPECT_EQ(read_http_address("localhost:0")->host, "127.0.0.1");
  EXPECT_EQ(read_http_address("[::1]:1")->host, "::1");
  EXPECT_EQ(read_http_address("unix:/run/x")->path, "/run/x");
  for (const std::string_view bad :
       {"", "localhost", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "example.com:80", "[::1]",
        "::1:80", "unix:", "unix:/x/", "http://127.0.0.1:1", "1.2.3:80"}) {
    EXPECT_FALSE(read_http_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace cordon::mcp
