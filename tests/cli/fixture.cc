#include "fixture.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cordon::cli {
namespace {

sigset_t child_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Orphans of the command become ours. True once the last of them is gone.
bool all_children_end() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const sigset_t child = child_signal();
  while (true) {
    const pid_t gone = ::waitpid(-1, nullptr, WNOHANG);
    if (gone < 0) return errno == ECHILD;
    if (gone > 0) continue;
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec patience{.tv_sec = seconds.count(),
                            .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
    (void)::sigtimedwait(&child, nullptr, &patience);
  }
}

}  // namespace

void CliTest::SetUp() {
  const sigset_t child = child_signal();
  ::pthread_sigmask(SIG_BLOCK, &child, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::string name = std::filesystem::temp_directory_path() / "cordon-cli-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  directory_ = name;
  // Not the user's own record, nor the runs that are alive.
  ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", path("runtime").c_str(), 1);
}

void CliTest::TearDown() {
  EXPECT_TRUE(all_children_end()) << "a process was left behind";
  std::filesystem::remove_all(directory_);
}

std::string CliTest::file(const std::string& name, const std::string& content,
                          bool executable) const {
  const std::string full = path(name);
  std::ofstream(full) << content;
  using std::filesystem::perms;
  std::filesystem::permissions(full, executable ? perms::owner_all : perms::owner_read);
  return full;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

boost::json::value parse(const std::string& text) {
  boost::system::error_code error;
  auto value = boost::json::parse(text, error);
  EXPECT_FALSE(error) << "not JSON: " << text;
  return value;
}

bool must_work(std::string_view area) {
  const char* const list = std::getenv("CORDON_MUST_WORK");
  return list != nullptr &&
         (',' + std::string(list) + ',').find(',' + std::string(area) + ',') != std::string::npos;
}

}  // namespace cordon::cli
