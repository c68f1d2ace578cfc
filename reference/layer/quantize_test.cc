#include "reference/layer/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

using Numbers = std::vector<double>;

constexpr size_t kScale = 0, kCodes = 1;

// x [N,A,G,M] in f32, with further words.
struct Quantized {
  Quantized(const std::string& words, const Shape& shape, Numbers x,
            const std::string& recipe = "native")
      : c(Case::Parse("quantize N=" + std::to_string(shape[0]) + " A=" + std::to_string(shape[1]) +
                      " G=" + std::to_string(shape[2]) + " M=" + std::to_string(shape[3]) + words)),
        inputs{{"x", DType::kF32, Tensor<double>(shape, std::move(x))}},
        by(ParseRecipe(recipe, DType::kF32)) {}
  Numbers Values(size_t output) const { return Prove({c, inputs, by})[output].value.data; }
  // The permitted errors of codes before they are rounded, with these answers as the scale.
  Numbers ErrorsWith(const Numbers& scale) const {
    Tensors answer = EvaluateByRecipe({c, inputs, by});
    answer[kScale].values.data = scale;
    const Evaluation traced{c, inputs, by, c.operation(), &answer};
    return ProveAndPermit(traced).permitted[kCodes].before_rounding;
  }

  Case c;
  Tensors inputs;
  Recipe by;
};

// Between 1 and 2 the codes of e4m3fn are 1/8 apart, below 1/64 they are 1/512 apart.
TEST(Quantize, RoundsQuotientsToNearestAndEven) {
  const Quantized q("", {1, 1, 1, 6}, {448, 1.0625, 1.1875, -3.125, 0x1p-10, 0x1.8p-9});
  EXPECT_THAT(q.Values(kScale), ElementsAre(1));
  EXPECT_THAT(q.Values(kCodes), ElementsAre(448, 1, 1.25, -3, 0, 0x1p-8));
  const Quantized half("", {1, 1, 1, 3}, {-224, 0.53125, 0.59375});
  EXPECT_THAT(half.Values(kScale), ElementsAre(0.5));
  EXPECT_THAT(half.Values(kCodes), ElementsAre(-448, 1, 1.25));
}

// x[n,a,g,m]: of two groups in each of two rows, which share their scales.
TEST(Quantize, ABlockHasItsRowsAndColumns) {
  const Quantized q("", {1, 2, 2, 2}, {448, 1, 896, 2, 3, -56, 4, -7});
  EXPECT_THAT(q.Values(kScale), ElementsAre(1, 2));
  EXPECT_THAT(q.Values(kCodes), ElementsAre(448, 1, 448, 1, 3, -56, 2, -3.5));
}

TEST(Quantize, HasALimitAndALeastScale) {
  EXPECT_THAT(Quantized(" limit=224", {1, 1, 1, 2}, {448, 1}).Values(kCodes),
              ElementsAre(224, 0.5));
  const Quantized fnuz(" dtype.codes=f8_e4m3fnuz", {1, 1, 1, 2}, {-480, 1});
  EXPECT_THAT(fnuz.Values(kScale), ElementsAre(2));
  EXPECT_THAT(fnuz.Values(kCodes), ElementsAre(-240, 0.5));
  const Quantized small(" least=448", {1, 1, 1, 2}, {7, -0.875});
  EXPECT_THAT(small.Values(kScale), ElementsAre(1));
  EXPECT_THAT(small.Values(kCodes), ElementsAre(7, -0.875));
}

// 3.1875 / 3 is the tie 1.0625, but 3.1875 times the rounded 1/3 is another number. All three ways
// are exact where the scale is a power of two.
TEST(Quantize, AnExactTieHasNoErrorBeforeItsRounding) {
  const Numbers x = {1344, 3.1875};
  for (const char* way : {"divide", "reciprocal", "inverse"}) {
    const Quantized q("", {1, 1, 1, 2}, x, std::string("native quantize=f32:") + way);
    EXPECT_EQ(q.ErrorsWith({3})[1] == 0, way == std::string("divide")) << way;
    const Quantized one("", {1, 1, 1, 2}, {448, 1.0625}, std::string("native quantize=f32:") + way);
    EXPECT_THAT(one.ErrorsWith({1}), ElementsAre(0, 0)) << way;
  }
  const Quantized any("", {1, 1, 1, 2}, x);
  const double error = any.ErrorsWith({3})[1];
  EXPECT_GE(error, 1.0625 * 0x1p-24) << "of the reciprocal";
  EXPECT_LE(error, 1.0625 * 0x1p-22);
}

// The inverse 448/amax is not that of the rounded scale.
TEST(Quantize, TheInverseMayBeFartherFromTheQuotientByTheScale) {
  const Quantized q("", {1, 1, 1, 2}, {450, 400}, "native quantize=f32:inverse");
  const double scale = static_cast<float>(450.0 / 448);
  const double apart = std::abs(400 * 448.0 / 450 - 400 / scale);
  EXPECT_GT(apart, 0);
  EXPECT_GE(q.ErrorsWith({scale})[1], apart);
}

// 450 * (1/448) and 1 / (448/450) have two roundings.
TEST(Quantize, TheScaleIsAQuotientOnlyIfTheRecipeSaysSo) {
  const auto error_by = [](const std::string& recipe) {
    const Quantized q("", {1, 1, 1, 1}, {450}, recipe);
    return PermittedErrors({q.c, q.inputs, q.by})[kScale].error.data[0];
  };
  const double quotient = error_by("native quantize=f32:divide");
  EXPECT_LE(quotient, 0x1p-24 * (1 + 0x1p-20));
  EXPECT_GE(error_by("native"), 1.5 * quotient);
  EXPECT_LE(error_by("native"), 4 * quotient);
}

// A kernel may flush subnormal numbers of f32, but a code is none.
TEST(Quantize, SubnormalCodesAreNotFlushed) {
  const Quantized q("", {1, 1, 1, 2}, {448, 0x1p-7}, "native flush");
  EXPECT_THAT(EvaluateByRecipe({q.c, q.inputs, q.by})[kCodes].values.data,
              ElementsAre(448, 0x1p-7));
}

TEST(Quantize, WithoutALargestNumberAnyInverseIsPossible) {
  const Quantized q("", {1, 1, 1, 2}, {kNaN, 1});
  EXPECT_EQ(q.ErrorsWith({1})[1], kInfinity);
  EXPECT_EQ(Quantized("", {1, 1, 1, 2}, {kNaN, 1}, "native quantize=f32:divide").ErrorsWith({1})[1],
            0);
}

TEST(Quantize, IsUnspecifiedWhereNoScaleIs) {
  for (const double x : {kNaN, kInfinity}) {
    const Quantized q("", {2, 1, 1, 2}, {1, x, 448, 1});
    EXPECT_THAT(q.Values(kScale), ElementsAre(IsNan(), 1)) << x;
    EXPECT_THAT(q.Values(kCodes), ElementsAre(IsNan(), IsNan(), 448, 1)) << x;
  }
  const Quantized zero("", {1, 1, 1, 2}, {0, -0.0});
  EXPECT_THAT(zero.Values(kScale), ElementsAre(0));
  EXPECT_THAT(zero.Values(kCodes), Each(IsNan())) << "0 / 0";
  EXPECT_THAT(Quantized(" least=448", {1, 1, 1, 2}, {0, 0}).Values(kCodes), ElementsAre(0, 0));
}

TEST(Quantize, RefusesOtherTypesAndLimits) {
  const auto error_of = [](const std::string& words) {
    return MessageOf([&] { Case::Parse("quantize N=1 A=1 G=1 M=2 " + words); });
  };
  EXPECT_EQ(error_of("dtype.codes=bf16"), "quantize: codes are bf16, expected a type of 8 bits");
  EXPECT_EQ(error_of("limit=449"),
            "quantize: limit=449 is beyond the largest number of f8_e4m3fn, 448");
  EXPECT_EQ(error_of("limit=0"), "quantize: limit=0, expected a number above 0");
  EXPECT_EQ(error_of("least=-1"), "quantize: least=-1, expected 0 or more");
  EXPECT_EQ(MessageOf([] { ParseRecipe("native trig=f32:divide", DType::kF32); }),
            "form divide belongs to quantize=");
}

}  // namespace
}  // namespace sextant
