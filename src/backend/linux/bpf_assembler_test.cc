#include "backend/linux/bpf_assembler.h"

#include <gtest/gtest.h>

#include "backend/linux/bpf_evaluator.h"

namespace cordon::linux_backend {
namespace {

TEST(BpfAssemblerTest, LabelsBecomeDistances) {
  BpfAssembler out;
  const auto yes = out.make_label();
  const auto no = out.make_label();
  out.load(0);
  out.if_any_bit(0b110, yes, no);
  out.bind(no);
  out.answer(1);
  out.bind(yes);
  out.answer(2);
  const auto program = out.finish();
  ASSERT_TRUE(program);
  EXPECT_EQ(evaluate(std::span(*program), {.nr = 1}), 1u);
  EXPECT_EQ(evaluate(std::span(*program), {.nr = 4}), 2u);
}

TEST(BpfAssemblerTest, RefusesLabelsBoundToNothing) {
  BpfAssembler never;
  const auto label = never.make_label();
  never.if_equal(0, label, label);
  never.answer(0);
  EXPECT_FALSE(never.finish());
  never.bind(label);  // behind the last instruction
  EXPECT_FALSE(never.finish());
}

TEST(BpfAssemblerTest, RefusesToJumpBack) {
  BpfAssembler out;
  const auto label = out.make_label();
  out.bind(label);
  out.load(0);
  out.if_equal(0, label, label);
  out.answer(0);
  EXPECT_FALSE(out.finish());
}

TEST(BpfAssemblerTest, RefusesDistancesThatDoNotFit) {
  for (const int between : {255, 256}) {
    BpfAssembler out;
    const auto far = out.make_label();
    out.if_equal(0, far, far);
    for (int i = 0; i < between; ++i) out.load(0);
    out.bind(far);
    out.answer(0);
    EXPECT_EQ(out.finish().has_value(), between == 255);
  }
}

}  // namespace
}  // namespace cordon::linux_backend
