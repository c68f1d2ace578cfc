#include "oracle/judge/tensor_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/judge/judge_test.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

// 1 + 2^-20 is an f32; the next one is 2^-23 further.
TEST(JudgeTensors, TheBorderOfWhatIsPermittedConformsAndTheNextNumberFails) {
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
TEST(JudgeTensors, TheLowerHalfOfTheExactValueCounts) {
  Ones at;
  at.Put(0, 1, kPermitted, 1 - kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kConforms);
  at.golden[0].low.data[0] = 0x1p-60;
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.golden[0].low.data[0] = -0x1p-60;
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

// Within the worst case of a sum, and beyond what its roundings give if they are independent.
TEST(JudgeTensors, BeyondWhatIsLikelyIsUnlikely) {
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
TEST(JudgeTensors, UnlikelyIsAWordAgainstWhatMayBeAnything) {
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

TEST(JudgeTensors, AnUnprovenRadiusIsPermittedToo) {
  Ones at;
  at.Put(0, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  at.golden[0].radius.data[0] = kPermitted;
  EXPECT_EQ(at.Judged().status, Status::kConforms);
}

// Half an ulp of doubt: the value may be the right one, which nobody can tell.
TEST(JudgeTensors, WhatIsOnlyEnclosedIsJudgedAndCountedButNotExact) {
  Ones at;
  at.golden[0].radius.data[0] = 0x1p-24;
  EXPECT_EQ(at.JudgedTensor().judged, 4u);
  EXPECT_EQ(at.JudgedTensor().enclosed, 1u);
  EXPECT_EQ(at.JudgedTensor().unspecified, 0u);
  EXPECT_EQ(at.Judged().grade, Grade::kFaithful);
  at.Put(0, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(at.Judged().status, Status::kFails);
}

TEST(JudgeTensors, WhatNothingEnclosesIsUnjudgeable) {
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

TEST(JudgeTensors, NaNNeverConforms) {
  Ones at;
  at.Put(1, 1, std::numeric_limits<double>::max(), kNaN);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  EXPECT_EQ(at.JudgedTensor().worst.where, "y[0,1]");
}

TEST(JudgeTensors, TheSignOfZeroDoesNotMatter) {
  Ones at;
  at.Put(0, 0, 0, -0.0);
  at.Put(1, -0.0, 0, 0);
  EXPECT_EQ(at.Judged().grade, Grade::kExact);
}

TEST(JudgeTensors, EqualInfinitiesConformAndOthersFail) {
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

TEST(JudgeTensors, WhatIsUnspecifiedMayBeAnything) {
  Ones at;
  at.Put(3, kNaN, kNaN, 12345);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unspecified, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(JudgeTensors, WhatOverflowsCannotBeJudged) {
  Ones at;
  at.Put(3, 3e38, kInfinity, kNaN);
  const Verdict verdict = at.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unjudgeable, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(JudgeTensors, VacuousElementsAreCountedAndCanFail) {
  Ones at;
  at.permitted[0].vacuous[0] = true;
  EXPECT_EQ(at.JudgedTensor().vacuous, 1u);
  EXPECT_EQ(at.JudgedTensor().judged, 3u);
  at.Put(0, 1, kPermitted, 2);
  EXPECT_EQ(at.Judged().status, Status::kFails);
  EXPECT_EQ(at.JudgedTensor().judged, 4u);
}

// An ulp above 1 is 2^-23. Exactly one ulp is no longer faithful.
TEST(JudgeTensors, GradesTheWorstElement) {
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

}  // namespace
}  // namespace sextant::oracle
