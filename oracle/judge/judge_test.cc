#include "oracle/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/judge/judge_test.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;
using testing::HasSubstr;

TEST(Judge, TheExactAnswerIsExact) {
  const Verdict verdict = Ones().Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.grade, Grade::kExact);
  EXPECT_EQ(verdict.tensors[0].elements, 4u);
  EXPECT_EQ(verdict.tensors[0].judged, 4u);
}

// An output marked `?` may be missing; one that is there is judged.
TEST(Judge, OptionalOutputsAreJudgedIfAnswered) {
  const Case c = Case::Parse("relative_attention clip=1 H=1 S=1 T=2 D=2");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const auto golden = Prove(c, inputs, recipe);
  const auto permitted = Permit(c, inputs, recipe);
  Tensors answer = AnswerBy(c, inputs, recipe);
  EXPECT_EQ(JudgeEndToEnd(c, golden, permitted, answer).tensors.size(), 2u);
  answer[1].values.data[0] += 1;
  EXPECT_EQ(JudgeEndToEnd(c, golden, permitted, answer).status, Status::kFails);
  answer.pop_back();
  const Verdict verdict = JudgeEndToEnd(c, golden, permitted, answer);
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors.size(), 1u);
  answer[0].name = "scores";
  EXPECT_EQ(JudgeEndToEnd(c, golden, permitted, answer).message, "it has no output 'y'");
}

// An answer without elements could have had another shape.
TEST(Judge, AnEmptyAnswerConforms) {
  EXPECT_EQ(Ones(0, 2).Judged().status, Status::kConforms);
  EXPECT_EQ(Ones(0, 2).Judged().grade, Grade::kExact);
}

TEST(Judge, WhatCouldNotFailIsUnverified) {
  Ones at;
  at.permitted[0].vacuous = std::vector<bool>(4, true);
  EXPECT_EQ(at.Judged().status, Status::kUnverified);
  EXPECT_THAT(at.Judged().message, HasSubstr("could have failed"));
}

// Though another output is judged.
TEST(Judge, AnOutputThatMayBeAnythingIsUnverified) {
  Ones at;
  at.c = Case::Parse("add_rms_norm N=2 M=2");
  at.golden.push_back(at.golden[0]);
  at.permitted.push_back(at.permitted[0]);
  at.answer.push_back(at.answer[0]);
  at.golden[1].name = at.permitted[1].name = at.answer[1].name = "sum";
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  for (auto* bound : {&at.permitted[1].error, &at.permitted[1].likely})
    bound->data = std::vector<double>(4, kInfinity);
  EXPECT_EQ(at.Judged().status, Status::kUnverified);
  EXPECT_EQ(at.Judged().message, "no element of sum could have failed");
  at.permitted[1].likely.data[0] = kPermitted;
  at.answer[1].values.data[0] = 5;
  EXPECT_EQ(at.Judged().status, Status::kUnverified);
  EXPECT_EQ(at.Judged().grade, Grade::kUnlikely);
}

// Though the other row is judged. Rows are those of the last axis.
TEST(Judge, ARowThatMayBeAnythingIsUnverified) {
  Ones at(3, 2);
  for (const size_t i : {2, 4}) at.Put(i, 1, kInfinity, 12345);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  at.Put(3, 1, kInfinity, 12345);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_EQ(verdict.message, "no element of 1 of 3 rows of y could have failed; the first is y[1]");
  EXPECT_EQ(verdict.open_rows, 1u);
  EXPECT_TRUE(verdict.only_rows);
}

// A row of which nothing is specified asks nothing.
TEST(Judge, ARowThatIsUnspecifiedLeavesTheOthersVerified) {
  Ones at;
  for (const size_t i : {2, 3}) at.Put(i, kNaN, kNaN, 12345);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  EXPECT_EQ(at.Judged().open_rows, 0u);
}

// Who answers what may be left out is judged by it: it may not be garbage.
TEST(Judge, AnOptionalOutputThatMayBeAnythingIsUnverified) {
  Ones at;
  at.c = Case::Parse("feed_forward N=2 M=2 F=2");
  at.golden.push_back(at.golden[0]);
  at.permitted.push_back(at.permitted[0]);
  at.answer.push_back(at.answer[0]);
  at.golden[1].name = at.permitted[1].name = at.answer[1].name = "hidden";
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  for (auto* bound : {&at.permitted[1].error, &at.permitted[1].likely})
    bound->data = std::vector<double>(4, kInfinity);
  EXPECT_EQ(at.Judged().message, "no element of hidden could have failed");
  EXPECT_EQ(at.Judged().status, Status::kUnverified);
  EXPECT_TRUE(at.Judged().only_rows);  // y could have failed
  EXPECT_EQ(at.Judged().open_rows, 2u);
  at.permitted[0].error.data[0] = at.permitted[0].error.data[1] = kInfinity;
  EXPECT_EQ(at.Judged().open_rows, 3u);  // of both outputs
  at.permitted[0].error.data[0] = at.permitted[0].error.data[1] = kPermitted;
  at.answer.pop_back();
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

TEST(Judge, SaysWhatDoesNotFit) {
  const auto message = [](auto change) {
    Ones at;
    change(at.answer);
    const Verdict verdict = at.Judged();
    EXPECT_EQ(verdict.status, Status::kFails);
    EXPECT_FALSE(verdict.grade);
    EXPECT_TRUE(verdict.tensors.empty());
    return verdict.message;
  };
  EXPECT_EQ(message([](Tensors& a) { a.clear(); }), "it has no output 'y'");
  EXPECT_EQ(message([](Tensors& a) {
              a[0].values = Tensor<double>({2, 3});
            }),
            "y has shape [2,3], expected [2,2]");
  EXPECT_EQ(message([](Tensors& a) { a[0].dtype = DType::kBF16; }), "y is bf16, expected f32");
}

TEST(Judge, NamesTheCase) {
  EXPECT_EQ(Ones().Judged().case_line,
            "rms_norm eps=1e-05 unit_offset=false M=2 N=2 dtype=f32 seed=1");
}

}  // namespace
}  // namespace sextant::oracle
