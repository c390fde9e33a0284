// `cordon doctor` tells what can be enforced here, and exits accordingly.
#include <unistd.h>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kGuarantees[] = {"memory",  "cpu",      "processes",    "filesystem",
                                       "network", "syscalls", "capabilities", "timeout"};

class Doctor : public CliTest {};

TEST_F(Doctor, ListsEveryGuaranteeAndTheFacts) {
  const Ended ended = cordon({"doctor"});
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, StartsWith("backend "));
  for (const char* const name : kGuarantees) {
    EXPECT_THAT(ended.out, HasSubstr(" " + std::string(name) + " ")) << name;
  }
  for (const char* const fact :
       {"kernel", "container", "caller", "user namespace", "mount namespace", "pid namespace",
        "network namespace", "/proc of its own", "Landlock", "seccomp", "control groups"}) {
    EXPECT_THAT(ended.out, HasSubstr("\n  " + std::string(fact) + " "));
  }
}

TEST_F(Doctor, ExitStatusSaysWhetherAllIsEnforced) {
  const Ended ended = cordon({"doctor", "--json"});
  const auto report = parse(ended.out);
  EXPECT_EQ(report.at("schema"), "cordon.doctor/1");
  bool all = true;
  for (const char* const name : kGuarantees) {
    const auto& text = report.at("enforcement").at(name).as_string();
    const bool enforced = std::string_view(text).starts_with("enforced by ");
    all = all && enforced;
    if (enforced) {
      EXPECT_FALSE(report.at("fixes").as_object().contains(name)) << name;
    }
  }
  EXPECT_EQ(report.at("ok"), all);
  EXPECT_EQ(ended.status, all ? 0 : 1);
  EXPECT_EQ(cordon({"doctor"}).status, ended.status);
}

TEST_F(Doctor, HostFactsSayWhyWhenSomethingDoesNotWork) {
  const auto host = parse(cordon({"doctor", "--json"}).out).at("host");
  EXPECT_THAT(read_file("/proc/sys/kernel/osrelease"),
              StartsWith(std::string(host.at("kernel").as_string())));
  for (const char* const name : {"user_namespace", "mount_namespace", "pid_namespace",
                                 "network_namespace", "proc_mount", "seccomp"}) {
    const auto& feature = host.at(name);
    EXPECT_EQ(feature.at("works").as_bool(), feature.at("why").is_null()) << name;
  }
  EXPECT_EQ(host.at("landlock").at("abi").is_null(), !host.at("landlock").at("why").is_null());
  EXPECT_TRUE(host.at("cgroup").as_object().contains("version"));
}

TEST_F(Doctor, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(cordon({"doctor", "--jsn"}).status, 125);
  EXPECT_THAT(cordon({"doctor", "--jsn"}).err, HasSubstr("did you mean --json?"));
  EXPECT_THAT(cordon({"doctor", "now"}).err, HasSubstr("doctor takes no 'now'"));
}

TEST_F(Doctor, OfAnOrdinaryUserIsNotPrivileged) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can become somebody else");
  const Ended ended = Command::program({"setpriv", "--reuid", "65534", "--regid", "65534",
                                        "--clear-groups", CORDON_COMMAND, "doctor", "--json"})
                          .run();
  if (ended.status != 0 && ended.status != 1) {
    CORDON_SKIP("setpriv", "the command cannot be run as another user: " + ended.err);
  }
  EXPECT_EQ(parse(ended.out).at("host").at("privileged"), false);
}

}  // namespace
}  // namespace cordon::cli
