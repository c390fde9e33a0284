#include "backend/linux/bpf_evaluator.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace cordon::linux_backend {
namespace {

using Program = std::vector<sock_filter>;

const sock_filter kLoadNumber = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));

sock_filter answer(std::uint32_t value) { return BPF_STMT(BPF_RET | BPF_K, value); }

Program always(std::uint32_t value) { return {answer(value)}; }

TEST(BpfEvaluatorTest, FollowsTheBranch) {
  const Program program{kLoadNumber, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1), answer(1),
                        answer(2)};
  EXPECT_EQ(evaluate(std::span(program), {.nr = 7}), 1u);
  EXPECT_EQ(evaluate(std::span(program), {.nr = 8}), 2u);
}

TEST(BpfEvaluatorTest, ReadsTheWordsOfAnArgument) {
  constexpr unsigned kSecond = offsetof(seccomp_data, args) + 8;
  const seccomp_data call{.args = {0, 0x0000'0005'0000'0009}};
  const Program low{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kSecond), BPF_STMT(BPF_RET | BPF_A, 0)};
  const Program high{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kSecond + 4), BPF_STMT(BPF_RET | BPF_A, 0)};
  EXPECT_EQ(evaluate(std::span(low), call), 9u);
  EXPECT_EQ(evaluate(std::span(high), call), 5u);
}

TEST(BpfEvaluatorTest, ComputesAndKeepsWords) {
  const Program program{BPF_STMT(BPF_LD | BPF_IMM, 0xff),
                        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3c),
                        BPF_STMT(BPF_ST, 2),
                        BPF_STMT(BPF_LD | BPF_IMM, 0),
                        BPF_STMT(BPF_LD | BPF_MEM, 2),
                        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x04, 0, 1),
                        BPF_STMT(BPF_RET | BPF_A, 0),
                        answer(0)};
  EXPECT_EQ(evaluate(std::span(program), {}), 0x3cu);
}

TEST(BpfEvaluatorTest, SaysWhatTheKernelWouldNotAccept) {
  const Program no_end{kLoadNumber};
  const Program beyond{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), answer(0)};
  const Program outside{BPF_JUMP(BPF_JMP | BPF_JA, 5, 0, 0), answer(0)};
  for (const Program& program : {no_end, beyond, outside}) {
    EXPECT_FALSE(evaluate(std::span(program), {}));
  }
}

TEST(BpfEvaluatorTest, TheStrictestAnswerWins) {
  const std::vector<Program> kill_first{always(SECCOMP_RET_KILL_PROCESS),
                                        always(SECCOMP_RET_ERRNO | 1)};
  EXPECT_EQ(evaluate(kill_first, {}), SECCOMP_RET_KILL_PROCESS);
  const std::vector<Program> allowed_last{always(SECCOMP_RET_ERRNO | 1), always(SECCOMP_RET_ALLOW)};
  EXPECT_EQ(evaluate(allowed_last, {}), SECCOMP_RET_ERRNO | 1u);
}

TEST(BpfEvaluatorTest, OfEqualsTheLastInstalledWins) {
  const std::vector<Program> both{always(SECCOMP_RET_ERRNO | 1), always(SECCOMP_RET_ERRNO | 2)};
  EXPECT_EQ(evaluate(both, {}), SECCOMP_RET_ERRNO | 2u);
}

}  // namespace
}  // namespace cordon::linux_backend
