// `cordon doctor` tells what can be enforced here, and exits accordingly.
#include <unistd.h>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
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

TEST_F(Doctor, NamesTheSwitchThatForbidsNamespaces) {
  // In a user namespace of its own, the test may turn the switches as it likes.
  const auto with = [](const std::string& setup) {
    return Command::program({"unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork",
                             "--mount-proc", "sh", "-c",
                             setup + " && exec " + CORDON_COMMAND + " doctor --json"})
        .run();
  };
  const Ended plain = with("true");
  if (plain.out.empty()) CORDON_SKIP("linux", "no user namespaces here: " + plain.err);
  EXPECT_EQ(parse(plain.out).at("host").at("user_namespace").at("works"), true);

  const auto why = [&](const std::string& setup, const char* feature) {
    const auto host = parse(with(setup).out).at("host");
    EXPECT_EQ(host.at(feature).at("works"), false) << setup;
    return std::string(host.at(feature).at("why").as_string());
  };
  const std::string user = "/proc/sys/user/";
  EXPECT_THAT(why("echo 0 >" + user + "max_user_namespaces", "user_namespace"),
              HasSubstr("user.max_user_namespaces is 0"));
  EXPECT_THAT(why("echo 0 >" + user + "max_mnt_namespaces", "mount_namespace"),
              HasSubstr("user.max_mnt_namespaces is 0"));
  EXPECT_THAT(why("echo 0 >" + user + "max_net_namespaces", "network_namespace"),
              HasSubstr("user.max_net_namespaces is 0"));
}

TEST_F(Doctor, OfAnOrdinaryUserIsNotPrivileged) {
  if (::geteuid() != 0) CORDON_SKIP("root", "only root can become somebody else");
  const Ended ended = Command::program({"setpriv", "--reuid", "65534", "--regid", "65534",
                                        "--clear-groups", CORDON_COMMAND, "doctor", "--json"})
                          .run();
  if (ended.status != 0 && ended.status != 1) {
    CORDON_SKIP("setpriv", "the command cannot be run as another user: " + ended.err);
  }
  const auto report = parse(ended.out);
  EXPECT_EQ(report.at("host").at("privileged"), false);
  // The reasons are told with the guarantees; a fix is something to do.
  for (const auto& [name, fix] : report.at("fixes").as_object()) {
    const std::string action(fix.as_string());
    EXPECT_FALSE(action.empty()) << name;
    for (const char* const reason : {"no control group", "denied", "failed", "does not work"}) {
      EXPECT_THAT(action, Not(HasSubstr(reason))) << name;
    }
  }
}

}  // namespace
}  // namespace cordon::cli
