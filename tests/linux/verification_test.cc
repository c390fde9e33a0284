// C42: a sandbox that is not what was asked for is found out from outside, and its program never
// runs. Each step that shows outside is left out in turn, as a fault in the set-up would.
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using testing::HasSubstr;

struct LeftOut {
  std::string name;
  std::string step;
  std::string said;  // by the error
};
void PrintTo(const LeftOut& left, std::ostream* out) { *out << left.step; }

class Verification : public testing::TestWithParam<LeftOut> {};

TEST_P(Verification, FindsOutWhatIsMissing) {
  CORDON_NEEDS_SANDBOX(false);
  in_own_process([] {
    const Folder folder;
    const auto manager = make_manager({.left_out = {GetParam().step}});
    ASSERT_NE(manager, nullptr);
    if (GetParam().step == "cgroup" &&
        manager->capabilities().enforcement.memory.level != Guarantee::Level::enforced) {
      CORDON_SKIP_WITHOUT("cgroup", "no control groups here");
    }
    Request request{.program = "/bin/sh",
                    .args = {"-c", "echo > " + folder.path("ran")},
                    .cwd = "/usr",
                    .grants = {Grant::write(folder.path())}};
    request.limits.open_files = 100;
    request.limits.file_size_bytes = 1 << 20;
    const Outcome outcome = run_to_end(*manager, std::move(request));
    ASSERT_TRUE(outcome.error) << to_json(outcome);
    EXPECT_EQ(outcome.error->stage, "verify") << outcome.error->message;
    EXPECT_THAT(outcome.error->message, HasSubstr(GetParam().said));
    EXPECT_FALSE(std::filesystem::exists(folder.path("ran")));
  });
}

INSTANTIATE_TEST_SUITE_P(
    , Verification,
    testing::Values(LeftOut{"Capabilities", "capabilities", "Cap"},
                    LeftOut{"Seccomp", "seccomp", "Seccomp"},
                    LeftOut{"OpenFiles", "limit:open_files", "\"open_files\" is not 100"},
                    LeftOut{"FileSize", "limit:file_size", "\"file_size\" is not 1048576"},
                    LeftOut{"Group", "cgroup", "control group"},
                    LeftOut{"HostRoot", "host root", "can be written to"}),
    [](const auto& left) { return left.param.name; });

}  // namespace
}  // namespace cordon::linux_tests
