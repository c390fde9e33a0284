// A pool of the test's own, stopped afterwards.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cordon/version.h"
#include "fixture.h"
#include "pool_client.h"
#include "support/eventually.h"

namespace cordon::cli {

using support::eventually;

class PoolTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(::mkdir(path("runtime").c_str(), 0700), 0);
    ASSERT_EQ(::mkdir(path("work").c_str(), 0700), 0);
    ::unsetenv("CORDON_POOL");
  }
  void TearDown() override {
    (void)cordon({"pool", "stop", "--grace", "0s"});
    CliTest::TearDown();
  }

  // Returns its process.
  int start(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"pool", "start"});
    const Ended started = cordon(options);
    EXPECT_EQ(started.status, 0) << started.err;
    return static_cast<int>(number("pid"));
  }
  [[nodiscard]] std::int64_t number(const char* name) const {
    const Ended status = cordon({"pool", "status", "--json"});
    EXPECT_EQ(status.status, 0) << status.err;
    return status.status == 0 ? parse(status.out).at(name).as_int64() : -1;
  }

  [[nodiscard]] std::string socket() const { return path("runtime/cordon/pool/socket"); }
  // A connection that nothing but the service looks at.
  [[nodiscard]] base::Fd raw() const {
    base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << socket();
    return fd;
  }
  // What `cordon run` says first.
  static app::pool::Reserve reserve(Duration patience = std::chrono::seconds(1)) {
    return {.version = std::string(version()),
            .home = app::pool::variable("HOME"),
            .tmpdir = app::pool::variable("TMPDIR"),
            .patience = patience};
  }
  // "cordon run OPTIONS --pool WHEN --cwd WORK ARGUMENTS"
  [[nodiscard]] Command pooled(const std::string& when, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", "--pool", when, "--cwd", path("work")});
    return Command(std::move(arguments));
  }
};

}  // namespace cordon::cli
