#include "oracle/judge/tensor_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/judge/judge_test.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

// 1 + 2^-20 is an f32; the next larger one differs by 2^-23.
TEST(JudgeTensors, TheLargestPermittedErrorConformsAndTheNextNumberFails) {
  Ones ones;
  ones.Put(2, 1, kPermitted, 1 + kPermitted);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  EXPECT_EQ(ones.JudgedTensor().worst.error, kPermitted);
  ones.Put(2, 1, kPermitted, 1 + kPermitted + 0x1p-23);
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_EQ(verdict.grade, Grade::kFails);
  EXPECT_EQ(verdict.tensors[0].failed, 1u);
  EXPECT_EQ(verdict.tensors[0].worst.where, "y[1,0]");
  EXPECT_EQ(verdict.tensors[0].worst.got, 1 + kPermitted + 0x1p-23);
  EXPECT_EQ(verdict.tensors[0].worst.expected, 1);
  EXPECT_EQ(verdict.tensors[0].worst.permitted, kPermitted);
}

// The exact value is 1 + 2^-60, so the error of 1 - 2^-20 exceeds the permitted error by 2^-60.
TEST(JudgeTensors, TheLowPartOfTheExactValueCounts) {
  Ones ones;
  ones.Put(0, 1, kPermitted, 1 - kPermitted);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  ones.golden[0].low.data[0] = 0x1p-60;
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  ones.golden[0].low.data[0] = -0x1p-60;
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
}

// 4 ranges of 32768 elements, judged on any number of threads.
TEST(JudgeTensors, RangesAreMergedInOrder) {
  Ones ones(1024, 128);
  const size_t at[] = {5, 32768, 100000, 131071};
  const double errors[] = {1, 3, 3, 2};  // in permitted errors; 3, 3 and 2 fail
  for (size_t i = 0; i < 4; ++i) ones.Put(at[i], 1, kPermitted, 1 + errors[i] * kPermitted);
  for (const int threads : {1, 3}) {
    const TensorVerdict verdict =
        JudgeTensors(ones.c,
                     {.golden = ones.golden, .permitted = ones.permitted, .threads = threads},
                     ones.answer)
            .at(0)
            .verdict;
    EXPECT_EQ(verdict.elements, 131072u);
    EXPECT_EQ(verdict.judged, 131072u);
    EXPECT_EQ(verdict.failed, 3u);
    EXPECT_EQ(verdict.worst.where, "y[256,0]");  // the first of the largest errors
    EXPECT_EQ(verdict.bias, 1.0 / (131072 - 3));
    ASSERT_EQ(verdict.failing.size(), 2u);
    using Ranges = std::vector<std::pair<int64_t, int64_t>>;
    EXPECT_EQ(verdict.failing[0].ranges, (Ranges{{256, 256}, {781, 781}, {1023, 1023}}));
    EXPECT_EQ(verdict.failing[1].ranges, (Ranges{{0, 0}, {32, 32}, {127, 127}}));
  }
}

// A budget leaves elements out: all their numbers are NaN, and every answer conforms there.
TEST(JudgeTensors, AnElementThatIsLeftOutIsNotCompared) {
  Ones ones;
  ones.Put(0, 1, kPermitted, 12345);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  const size_t judged = ones.JudgedTensor().judged;
  for (auto* values :
       {&ones.golden[0].value, &ones.golden[0].high, &ones.golden[0].low, &ones.golden[0].permitted,
        &ones.golden[0].radius, &ones.permitted[0].error, &ones.permitted[0].likely})
    values->data[0] = NAN;
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
  EXPECT_EQ(ones.JudgedTensor().left_out, 1u);
  EXPECT_EQ(ones.JudgedTensor().unspecified, 0u);
  EXPECT_EQ(ones.JudgedTensor().judged, judged - 1);
}

// The error is below the worst case of a sum, but above the bound for independent roundings.
TEST(JudgeTensors, ErrorAboveLikelyIsUnlikely) {
  Ones ones;
  ones.Put(0, 1, kPermitted, 1 + kPermitted / 2);
  EXPECT_EQ(ones.JudgedTensor().grade, Grade::kWithin);
  ones.permitted[0].likely.data[0] = kPermitted / 4;
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.grade, Grade::kUnlikely);
  EXPECT_EQ(verdict.tensors[0].unlikely, 1u);
  ones.Put(1, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(ones.Judged().grade, Grade::kFails);
}

// The permitted error is infinite or permits any answer of the right size, but `likely` is finite.
// The number of judged elements does not depend on the answer.
TEST(JudgeTensors, OpenElementIsUnlikelyAboveAFiniteLikelyError) {
  for (const bool unbounded : {true, false}) {
    Ones ones;
    ones.Put(0, 1, unbounded ? kInfinity : 9, 1 + kPermitted / 2);
    ones.permitted[0].vacuous[0] = 1;
    ones.permitted[0].likely.data[0] = kPermitted;
    EXPECT_LT(ones.Judged().grade.value(), Grade::kUnlikely);
    for (const double other : {2.0, unbounded ? kNaN : 2.0, unbounded ? kInfinity : 3.0}) {
      ones.answer[0].values.data[0] = other;
      ones.answer[0].values.data[1] = 1 + 0x1p-22;  // a larger share of its permitted error
      const Verdict verdict = ones.Judged();
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

TEST(JudgeTensors, RadiusOfAnUnprovenValueIsPermittedToo) {
  Ones ones;
  ones.Put(0, 1, kPermitted, 1 + kPermitted * (1 + 0x1p-10));
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  ones.golden[0].radius.data[0] = kPermitted * 0x1p-10;
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
}

// Such a radius could hide a bug: no answer is verified by it, and no other row replaces it.
TEST(JudgeTensors, AnElementIsOpenIfItsRadiusExceedsAPartOfItsPermittedError) {
  for (const double permitted : {kPermitted, 0.0}) {
    Ones ones(1024, 128);  // judged in several ranges
    const size_t at = 131071;
    ones.Put(at, 1, permitted, 1);
    ones.golden[0].radius.data[at] = permitted * 0x1p-10;
    EXPECT_EQ(ones.Judged().status, Status::kConforms);
    EXPECT_EQ(ones.JudgedTensor().loose, 0u);
    for (const double radius : {std::nextafter(permitted * 0x1p-10, 1), 10.0, kInfinity}) {
      ones.golden[0].radius.data[at] = radius;
      const Verdict verdict = ones.Judged();
      EXPECT_EQ(verdict.status, Status::kUnverified);
      EXPECT_THAT(verdict.message, testing::HasSubstr("at 1 element of y the radius exceeds"));
      EXPECT_FALSE(verdict.open_rows_acceptable);
      EXPECT_EQ(verdict.tensors[0].loose, 1u);
      EXPECT_EQ(verdict.tensors[0].judged, at);
      EXPECT_EQ(verdict.tensors[0].unjudgeable + verdict.tensors[0].vacuous, 0u);
    }
    ones.golden[0].radius.data[at] = 10;
    ones.answer[0].values.data[at] = 12;
    EXPECT_EQ(ones.Judged().status, Status::kFails);
    EXPECT_EQ(ones.JudgedTensor().loose, 0u);
  }
}

// The rounded value is not proven.
TEST(JudgeTensors, EnclosedElementsAreJudgedAndCountedButNotExact) {
  Ones ones;
  ones.golden[0].radius.data[0] = kPermitted * 0x1p-10;
  EXPECT_EQ(ones.JudgedTensor().judged, 4u);
  EXPECT_EQ(ones.JudgedTensor().enclosed, 1u);
  EXPECT_EQ(ones.JudgedTensor().unspecified, 0u);
  EXPECT_EQ(ones.Judged().grade, Grade::kFaithful);
  ones.Put(0, 1, kPermitted, 1 + 2 * kPermitted);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
}

TEST(JudgeTensors, ElementWithInfiniteRadiusIsUnjudgeable) {
  Ones ones;
  ones.Put(0, 0, kInfinity, 12345);
  ones.golden[0].radius.data[0] = kInfinity;
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
  EXPECT_EQ(verdict.tensors[0].unjudgeable, 1u);
  EXPECT_EQ(verdict.tensors[0].enclosed, 1u);
  EXPECT_EQ(verdict.tensors[0].unspecified, 0u);
}

TEST(JudgeTensors, NaNNeverConforms) {
  Ones ones;
  ones.Put(1, 1, std::numeric_limits<double>::max(), kNaN);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  EXPECT_EQ(ones.JudgedTensor().worst.where, "y[0,1]");
}

TEST(JudgeTensors, TheSignOfZeroDoesNotMatter) {
  Ones ones;
  ones.Put(0, 0, 0, -0.0);
  ones.Put(1, -0.0, 0, 0);
  EXPECT_EQ(ones.Judged().grade, Grade::kExact);
}

TEST(JudgeTensors, EqualInfinitiesConformAndOthersFail) {
  Ones ones;
  ones.Put(0, kInfinity, 0, kInfinity);
  ones.Put(1, -kInfinity, 0, -kInfinity);
  EXPECT_EQ(ones.Judged().grade, Grade::kExact);
  ones.Put(1, -kInfinity, 0, kInfinity);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  ones.Put(1, kInfinity, 0, std::numeric_limits<float>::max());
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  ones.Put(1, 1, kPermitted, kInfinity);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
}

TEST(JudgeTensors, UnspecifiedElementMayHaveAnyValue) {
  Ones ones;
  ones.Put(3, kNaN, kNaN, 12345);
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unspecified, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(JudgeTensors, ElementWithInfiniteBoundIsUnjudgeable) {
  Ones ones;
  ones.Put(3, 3e38, kInfinity, kNaN);
  const Verdict verdict = ones.Judged();
  EXPECT_EQ(verdict.status, Status::kConforms);
  EXPECT_EQ(verdict.tensors[0].unjudgeable, 1u);
  EXPECT_EQ(verdict.tensors[0].judged, 3u);
}

TEST(JudgeTensors, VacuousElementsAreCountedAndCanFail) {
  Ones ones;
  ones.permitted[0].vacuous[0] = 1;
  EXPECT_EQ(ones.JudgedTensor().vacuous, 1u);
  EXPECT_EQ(ones.JudgedTensor().judged, 3u);
  ones.Put(0, 1, kPermitted, 2);
  EXPECT_EQ(ones.Judged().status, Status::kFails);
  EXPECT_EQ(ones.JudgedTensor().judged, 4u);
}

// An ulp above 1 is 2^-23. An error of exactly one ulp is not faithful.
TEST(JudgeTensors, GradesTheWorstElement) {
  Ones ones;
  EXPECT_EQ(ones.Judged().grade, Grade::kExact);
  ones.Put(0, 1 + 0x1p-25, kPermitted, 1 + 0x1p-23);
  ones.golden[0].value.data[0] = 1;
  EXPECT_EQ(ones.Judged().grade, Grade::kFaithful);
  ones.Put(1, 1, kPermitted, 1 + 0x1p-23);
  EXPECT_EQ(ones.Judged().grade, Grade::kWithin);
  ones.Put(2, 1, kPermitted, 1.5);
  EXPECT_EQ(ones.Judged().grade, Grade::kFails);
}

// One element, of which every bit is specified (golden.h).
Verdict JudgedBitwise(double value, double got) {
  Ones ones(1, 1);
  ones.golden[0].bitwise = true;
  ones.golden[0].permitted.data[0] = 0;
  ones.Put(0, value, 0, got);
  return ones.Judged();
}

TEST(JudgeTensors, ASpecifiedNumberConformsAloneBitByBit) {
  const double numbers[] = {kNaN, kInfinity, -kInfinity, 0.0, -0.0, 1, MaxFinite(DType::kF32)};
  for (size_t i = 0; i < std::size(numbers); ++i) {
    for (size_t k = 0; k < std::size(numbers); ++k) {
      const Verdict verdict = JudgedBitwise(numbers[i], numbers[k]);
      EXPECT_EQ(verdict.status, i == k ? Status::kConforms : Status::kFails) << i << " " << k;
      EXPECT_EQ(verdict.grade, i == k ? Grade::kExact : Grade::kFails) << i << " " << k;
      EXPECT_EQ(verdict.tensors[0].judged, 1u);
      EXPECT_EQ(verdict.tensors[0].unspecified, 0u);
    }
  }
}

TEST(JudgeTensors, AnyNaNIsTheSpecifiedOne) {
  EXPECT_EQ(JudgedBitwise(kNaN, -kNaN).status, Status::kConforms);
  EXPECT_EQ(JudgedBitwise(kNaN, std::bit_cast<double>(uint64_t{0x7ff8000000000123})).status,
            Status::kConforms);
}

TEST(JudgeTensors, WithoutThatNaNIsUnspecifiedAndZerosAreEqual) {
  Ones ones(1, 1);
  ones.Put(0, kNaN, kPermitted, 1);
  EXPECT_EQ(ones.JudgedTensor().unspecified, 1u);
  ones.Put(0, 0.0, 0, -0.0);
  EXPECT_EQ(ones.Judged().status, Status::kConforms);
}

// The largest finite error is the worst one, unless an element is not finite.
TEST(JudgeTensors, ReportsTheWorstSpecifiedElement) {
  Ones ones(1, 3);
  ones.golden[0].bitwise = true;
  ones.Put(0, -0.0, 0, 0.0);
  ones.Put(1, kNaN, 0, 448);
  ones.Put(2, 1, 0, 1);
  const TensorVerdict verdict = ones.JudgedTensor();
  EXPECT_EQ(verdict.failed, 2u);
  EXPECT_EQ(verdict.worst.where, "y[0,1]");
  EXPECT_TRUE(std::isnan(verdict.worst.expected));
}

// A golden of a file does not say that every bit is specified: the operation does.
TEST(Judge, GoldensOfFilesAreJudgedBitwiseToo) {
  const Case c = Case::Parse("cast overflow=nan N=1 M=4 dtype.y=f8_e4m3fn");
  const Tensors inputs = {{"x", DType::kF32, {{1, 4}, {kNaN, -0.0, 500, 17}}}};
  const Recipe recipe = ParseRecipe("native", c.dtype());
  auto golden = Prove({c, inputs, recipe});
  golden[0].bitwise = false;
  const Judge judge(c, inputs, recipe, golden);
  const auto status = [&](std::vector<double> y) {
    return judge.Evaluate({{"y", DType::kF8E4M3FN, {{1, 4}, std::move(y)}}}).status;
  };
  EXPECT_EQ(status({kNaN, -0.0, kNaN, 16}), Status::kConforms);
  EXPECT_EQ(status({448, -0.0, kNaN, 16}), Status::kFails);
  EXPECT_EQ(status({kNaN, 0.0, kNaN, 16}), Status::kFails);
  EXPECT_EQ(status({kNaN, -0.0, 448, 16}), Status::kFails);
  EXPECT_EQ(status({kNaN, -0.0, kNaN, 18}), Status::kFails);  // the other side of the tie
}

}  // namespace
}  // namespace sextant::oracle
