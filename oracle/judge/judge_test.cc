#include "oracle/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "oracle/judge/judge_test.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
  EXPECT_EQ(Judge(c, golden, permitted, answer).tensors.size(), 2u);
  answer[1].values.data[0] += 1;
  EXPECT_EQ(Judge(c, golden, permitted, answer).status, Status::kFails);
  answer.pop_back();
  const Verdict verdict = Judge(c, golden, permitted, answer);
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors.size(), 1u);
  answer[0].name = "scores";
  EXPECT_EQ(Judge(c, golden, permitted, answer).message, "it has no output 'y'");
}

// 1 + 2^-20 is an f32; the next one is 2^-23 further.
TEST(Judge, TheBorderOfWhatIsPermittedConformsAndTheNextNumberFails) {
  Ones at;
  at.Put(2, 1, kPermitted, 1 + kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  EXPECT_EQ(at.JudgedTensor().worst.error, kPermitted);
  at.Put(2, 1, kPermitted, 1 + kPermitted + 0x1p-23);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_EQ(verdict.grade, Grade::kFails);
  EXPECT_EQ(verdict.tensors[0].failed, 1u);
  EXPECT_EQ(verdict.tensors[0].worst.where, "y[1,0]");
  EXPECT_EQ(verdict.tensors[0].worst.got, 1 + kPermitted + 0x1p-23);
  EXPECT_EQ(verdict.tensors[0].worst.expected, 1);
  EXPECT_EQ(verdict.tensors[0].worst.permitted, kPermitted);
}

// The exact value is 1 + 2^-60: 1 - 2^-20 is that much too far.
TEST(Judge, TheLowerHalfOfTheExactValueCounts) {
  Ones at;
  at.Put(0, 1, kPermitted, 1 - kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  at.golden[0].low.data[0] = 0x1p-60;
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.golden[0].low.data[0] = -0x1p-60;
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

// Within the worst case of a sum, and beyond what its roundings give if they are independent.
TEST(Judge, BeyondWhatIsLikelyIsUnlikely) {
  Ones at;
  at.Put(0, 1, kPermitted, 1 + kPermitted / 2);
  EXPECT_EQ(at.JudgedTensor().grade, Grade::kWithin);
  at.permitted[0].likely.data[0] = kPermitted / 4;
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.grade, Grade::kUnlikely);
  EXPECT_EQ(verdict.tensors[0].unlikely, 1u);
  at.Put(1, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(at.Judged().grade, Grade::kFails);
}

// No bound, or one that permits any answer of the right size; but a likely error is known. What is
// counted as judged does not depend on the answer.
TEST(Judge, UnlikelyIsAWordAgainstWhatMayBeAnything) {
  for (const bool unbounded : {true, false}) {
    Ones at;
    at.Put(0, 1, unbounded ? kInfinity : 9, 1 + kPermitted / 2);
    at.permitted[0].vacuous[0] = true;
    at.permitted[0].likely.data[0] = kPermitted;
    EXPECT_LT(at.Judged().grade, Grade::kUnlikely);
    for (const double other : {2.0, unbounded ? kNaN : 2.0, unbounded ? kInfinity : 3.0}) {
      at.answer[0].values.data[0] = other;
      at.answer[0].values.data[1] = 1 + 0x1p-22;  // of what is permitted, more
      const Verdict verdict = at.Judged();
      EXPECT_EQ(verdict.status, Status::kConforms) << other;
      EXPECT_EQ(verdict.grade, Grade::kUnlikely) << other;
      EXPECT_EQ(verdict.tensors[0].judged, 3u);
      EXPECT_EQ(verdict.tensors[0].unjudgeable + verdict.tensors[0].vacuous, 1u);
      EXPECT_EQ(verdict.tensors[0].worst.where, "y[0,0]");
      EXPECT_EQ(verdict.tensors[0].worst.likely, kPermitted);
      EXPECT_TRUE(std::isfinite(verdict.tensors[0].bias));
    }
  }
}

TEST(Judge, AnUnprovenRadiusIsPermittedToo) {
  Ones at;
  at.Put(0, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.golden[0].radius.data[0] = kPermitted;
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

// Half an ulp of doubt: the value may be the right one, which nobody can tell.
TEST(Judge, WhatIsOnlyEnclosedIsJudgedAndCountedButNotExact) {
  Ones at;
  at.golden[0].radius.data[0] = 0x1p-24;
  EXPECT_EQ(at.JudgedTensor().judged, 4u);
  EXPECT_EQ(at.JudgedTensor().enclosed, 1u);
  EXPECT_EQ(at.JudgedTensor().unspecified, 0u);
  EXPECT_EQ(at.Judged().grade, Grade::kFaithful);
  at.Put(0, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kFails);
}

TEST(Judge, WhatNothingEnclosesIsUnjudgeable) {
  Ones at;
  at.Put(0, 0, kInfinity, 12345);
  at.golden[0].radius.data[0] = kInfinity;
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
  EXPECT_EQ(verdict.tensors[0].unjudgeable, 1u);
  EXPECT_EQ(verdict.tensors[0].enclosed, 1u);
  EXPECT_EQ(verdict.tensors[0].unspecified, 0u);
}

TEST(Judge, NaNNeverConforms) {
  Ones at;
  at.Put(1, 1, std::numeric_limits<double>::max(), kNaN);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  EXPECT_EQ(at.JudgedTensor().worst.where, "y[0,1]");
}

TEST(Judge, TheSignOfZeroDoesNotMatter) {
  Ones at;
  at.Put(0, 0, 0, -0.0);
  at.Put(1, -0.0, 0, 0);
  EXPECT_EQ(at.Judged().grade, Grade::kExact);
}

TEST(Judge, EqualInfinitiesConformAndOthersFail) {
  Ones at;
  at.Put(0, kInfinity, 0, kInfinity);
  at.Put(1, -kInfinity, 0, -kInfinity);
  EXPECT_EQ(at.Judged().grade, Grade::kExact);
  at.Put(1, -kInfinity, 0, kInfinity);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.Put(1, kInfinity, 0, std::numeric_limits<float>::max());
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.Put(1, 1, kPermitted, kInfinity);
  EXPECT_EQ(at.Judged().status, Status::kFails);
}

TEST(Judge, WhatIsUnspecifiedMayBeAnything) {
  Ones at;
  at.Put(3, kNaN, kNaN, 12345);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unspecified, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(Judge, WhatOverflowsCannotBeJudged) {
  Ones at;
  at.Put(3, 3e38, kInfinity, kNaN);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unjudgeable, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(Judge, VacuousElementsAreCountedAndCanFail) {
  Ones at;
  at.permitted[0].vacuous[0] = true;
  EXPECT_EQ(at.JudgedTensor().vacuous, 1u);
  EXPECT_EQ(at.JudgedTensor().judged, 3u);
  at.Put(0, 1, kPermitted, 2);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  EXPECT_EQ(at.JudgedTensor().judged, 4u);
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
  EXPECT_FALSE(at.Judged().only_rows);
  at.answer.pop_back();
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

// An ulp above 1 is 2^-23. Exactly one ulp is no longer faithful.
TEST(Judge, GradesTheWorstElement) {
  Ones at;
  EXPECT_EQ(at.Judged().grade, Grade::kExact);
  at.Put(0, 1 + 0x1p-25, kPermitted, 1 + 0x1p-23);
  at.golden[0].value.data[0] = 1;
  EXPECT_EQ(at.Judged().grade, Grade::kFaithful);
  at.Put(1, 1, kPermitted, 1 + 0x1p-23);
  EXPECT_EQ(at.Judged().grade, Grade::kWithin);
  at.Put(2, 1, kPermitted, 1.5);
  EXPECT_EQ(at.Judged().grade, Grade::kFails);
}

TEST(Judge, SaysWhatDoesNotFit) {
  const auto message = [](auto change) {
    Ones at;
    change(at.answer);
    const Verdict verdict = at.Judged();
    EXPECT_EQ(verdict.status, Status::kFails);
    EXPECT_EQ(verdict.grade, Grade::kFails);
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
