#include "oracle/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/judge/judge_test.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;
using testing::HasSubstr;

TEST(Judge, ExactAnswerHasGradeExact) {
  const Verdict verdict = Ones().Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.grade, Grade::kExact);
  EXPECT_EQ(verdict.tensors[0].elements, 4u);
  EXPECT_EQ(verdict.tensors[0].judged, 4u);
}

// An output marked `?` may be missing; if answered, it is judged.
TEST(Judge, OptionalOutputsAreJudgedIfAnswered) {
  const Case c = Case::Parse("relative_attention clip=1 H=1 S=1 T=2 D=2");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const auto golden = Prove({c, inputs, recipe});
  const auto permitted = PermittedErrors({c, inputs, recipe});
  Tensors answer = EvaluateByRecipe({c, inputs, recipe});
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

// An answer without elements is verified: it could have had a wrong shape.
TEST(Judge, EmptyAnswerConforms) {
  EXPECT_EQ(Ones(0, 2).Judged().status, Status::kConforms);
  EXPECT_EQ(Ones(0, 2).Judged().grade, Grade::kExact);
}

TEST(Judge, AnswerThatCouldNotFailIsUnverified) {
  Ones ones;
  ones.permitted[0].vacuous = std::vector<char>(4, 1);
  EXPECT_EQ(ones.Judged().status, Status::kUnverified);
  EXPECT_THAT(ones.Judged().message, HasSubstr("could have failed"));
}

// Even if another output is judged.
TEST(Judge, OutputThatCouldNotFailIsUnverified) {
  Ones ones;
  ones.AddOutput("add_rms_norm N=2 M=2", "sum");
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  for (auto* bound : {&ones.permitted[1].error, &ones.permitted[1].likely})
    bound->data = std::vector<double>(4, kInfinity);
  EXPECT_EQ(ones.Judged().status, Status::kUnverified);
  EXPECT_EQ(ones.Judged().message, "no element of sum could have failed");
  ones.permitted[1].likely.data[0] = kPermitted;
  ones.answer[1].values.data[0] = 5;
  EXPECT_EQ(ones.Judged().status, Status::kUnverified);
  EXPECT_EQ(ones.Judged().grade, Grade::kUnlikely);
}

// Even if the other rows are judged. Rows extend along the last axis.
TEST(Judge, RowThatCouldNotFailIsUnverified) {
  Ones ones(3, 2);
  for (const size_t i : {2, 4}) ones.Put(i, 1, kInfinity, 12345);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  ones.Put(3, 1, kInfinity, 12345);
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kUnverified);
  EXPECT_EQ(verdict.message, "no element of 1 of 3 rows of y could have failed; the first is y[1]");
  EXPECT_EQ(verdict.open_row_count, 1u);
  EXPECT_TRUE(verdict.open_rows_acceptable);
}

// A row without specified elements is not open.
TEST(Judge, UnspecifiedRowLeavesTheOthersVerified) {
  Ones ones;
  for (const size_t i : {2, 3}) ones.Put(i, kNaN, kNaN, 12345);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  EXPECT_EQ(ones.Judged().open_row_count, 0u);
}

// An answered optional output must be verified too.
TEST(Judge, OptionalOutputThatCouldNotFailIsUnverified) {
  Ones ones;
  ones.AddOutput("feed_forward N=2 M=2 F=2", "hidden");
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  for (auto* bound : {&ones.permitted[1].error, &ones.permitted[1].likely})
    bound->data = std::vector<double>(4, kInfinity);
  EXPECT_EQ(ones.Judged().message, "no element of hidden could have failed");
  EXPECT_EQ(ones.Judged().status, Status::kUnverified);
  EXPECT_TRUE(ones.Judged().open_rows_acceptable);  // y could have failed
  EXPECT_EQ(ones.Judged().open_row_count, 2u);
  ones.permitted[0].error.data[0] = ones.permitted[0].error.data[1] = kInfinity;
  EXPECT_EQ(ones.Judged().open_row_count, 3u);  // of both outputs
  ones.permitted[0].error.data[0] = ones.permitted[0].error.data[1] = kPermitted;
  ones.answer.pop_back();
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
}

TEST(Judge, ReportsMissingOutputsAndWrongShapesAndDtypes) {
  const auto message = [](auto change) {
    Ones ones;
    change(ones.answer);
    const Verdict verdict = ones.Judged();
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
