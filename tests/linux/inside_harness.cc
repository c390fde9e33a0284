#include "linux/inside_harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "backend/linux/cgroup_kill.h"
#include "backend/linux/cgroup_table.h"
#include "base/fd.h"

namespace cordon::linux_tests {
namespace {

namespace fs = std::filesystem;

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

GivenGroups::GivenGroups(uid_t user) {
  const auto mounts = linux_backend::parse_mountinfo(text_of("/proc/self/mountinfo"));
  const std::string own = text_of("/proc/self/cgroup");
  const std::string name = "cordon-given-" + std::to_string(::getpid());
  for (const char* const controller : {"memory", "pids", "cpu", "cpuacct"}) {
    const auto group = linux_backend::group_of(own, controller);
    const auto* const mount =
        group ? linux_backend::mount_for(mounts, controller, *group) : nullptr;
    if (mount == nullptr) return;
    const fs::path path = fs::path(mount->point) / name;
    std::error_code error;
    if (fs::create_directory(path, error)) made_.push_back(path);
    if (error) return;
    if (::chown(path.c_str(), user, user) != 0) return;
    for (const char* const file : {"tasks", "cgroup.procs"}) {
      if (::chown((path / file).c_str(), user, user) != 0) return;
    }
  }
  name_ = name;
}

GivenGroups::~GivenGroups() {
  for (const fs::path& path : made_) {
    const base::Fd above(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    (void)linux_backend::remove_group(above.get(), path.filename());
  }
}

std::size_t GivenGroups::inside() const {
  std::size_t count = 0;
  std::error_code ignored;
  for (const fs::path& path : made_) {
    for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
      if (entry.is_directory(ignored)) ++count;
    }
  }
  return count;
}

Request shell(std::string script) {
  Request request;
  request.program = "/bin/sh";
  request.args = {"-c", std::move(script)};
  request.timeout = std::chrono::seconds(30);
  return request;
}

Request sleeper(Request request) {
  request.program = "/bin/sleep";
  request.args = {"infinity"};
  request.cwd = "/usr";
  request.timeout = kNoTimeout;
  request.out = Output::discard();
  request.err = Output::discard();
  return request;
}

void InsideTest::SetUp() {
  CORDON_NEEDS_SANDBOX(ordinary());
  if (ordinary()) {
    groups_ = std::make_unique<GivenGroups>(kOrdinaryUser);
    if (groups_->name().empty()) GTEST_SKIP() << "cgroup v1: none can be given to another user";
  }
  auto engine = linux_backend::make_engine();
  if (!engine) CORDON_SKIP_WITHOUT("linux", engine.error().message);
  auto any = (*engine)->create({.sandbox_id = "any", .request = sleeper()});
  if (!any) CORDON_SKIP_WITHOUT("cgroup", any.error().message);
}

void InsideTest::each(
    const std::function<void(supervise::Engine&, const std::string& parent)>& test) {
  in_own_process(ordinary() ? kOrdinaryUser : ::geteuid(), [&] {
    std::filesystem::current_path("/usr");
    auto engine = linux_backend::make_engine();
    ASSERT_TRUE(engine) << engine.error().message;
    test(**engine, groups_ ? groups_->name() : "");
  });
  if (groups_) {
    EXPECT_EQ(groups_->inside(), 0U);
  }
}

void InsideTest::inside(Request request, const std::function<void(supervise::Container&)>& test) {
  each([&](supervise::Engine& engine, const std::string& parent) {
    request.cgroup_parent = parent;
    auto made = engine.create({.sandbox_id = "test", .request = request});
    ASSERT_TRUE(made) << made.error().message;
    test(**made);
    made->reset();
    EXPECT_EQ(groups_of(::getpid()), 0U);
  });
}

}  // namespace cordon::linux_tests
