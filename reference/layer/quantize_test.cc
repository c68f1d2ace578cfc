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

// The scale is 2; -127.5 rounds to -128, 127.5 is limited to 127.
TEST(Quantize, TheSmallestIntegerIsACodeOfALimitBeyondTheLargest) {
  const Quantized q(" limit=127.5 dtype.codes=i8", {1, 1, 1, 4}, {255, -255, 254, 3});
  EXPECT_THAT(q.Values(kScale), ElementsAre(2));
  EXPECT_THAT(q.Values(kCodes), ElementsAre(127, -128, 127, 2));
  const Quantized whole(" limit=8 dtype.codes=i4", {1, 1, 1, 4}, {8, -8, 7.25, -7.75});
  EXPECT_THAT(whole.Values(kCodes), ElementsAre(7, -8, 7, -8));
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

TEST(Quantize, RoundsToIntegersAndTo4Bits) {
  const Quantized i8(" dtype.codes=i8", {1, 1, 1, 5}, {-254, 5, 3, 1, -7});
  EXPECT_THAT(i8.Values(kScale), ElementsAre(2));
  EXPECT_THAT(i8.Values(kCodes), ElementsAre(-127, 2, 2, 0, -4));
  const Quantized i4(" dtype.codes=i4", {1, 1, 1, 4}, {7, 2.5, -3.5, 0.75});
  EXPECT_THAT(i4.Values(kCodes), ElementsAre(7, 2, -4, 1));
  // 0 .5 1 1.5 2 3 4 6
  const Quantized f4(" dtype.codes=f4_e2m1", {1, 1, 1, 6}, {6, 5, -2.5, 3.5, 0.25, 1.26});
  EXPECT_THAT(f4.Values(kScale), ElementsAre(1));
  EXPECT_THAT(f4.Values(kCodes), ElementsAre(6, 4, -2, 4, 0, 1.5));
}

TEST(Quantize, TiesGoAwayFromZeroIfTheCaseSaysSo) {
  const Quantized i8(" ties=away dtype.codes=i8", {1, 1, 1, 4}, {127, 2.5, -0.5, 1.25});
  EXPECT_THAT(i8.Values(kCodes), ElementsAre(127, 3, -1, 1));
  EXPECT_THAT(EvaluateByRecipe({i8.c, i8.inputs, i8.by})[kCodes].values.data,
              ElementsAre(127, 3, -1, 1));
  const Quantized f8(" ties=away", {1, 1, 1, 3}, {448, 1.0625, -1.1875});
  EXPECT_THAT(f8.Values(kCodes), ElementsAre(448, 1.125, -1.25));
}

// 128 / 127 is 1.007874 and 1.0078125 in f16: 63.998 / scale is 63.498 and 63.502.
TEST(Quantize, CodesAreThoseOfTheStoredOrOfTheUnroundedScale) {
  const Numbers x = {128, static_cast<float>(63.998)};
  const Quantized unrounded(" dtype.codes=i8 dtype.scale=f16 codes_by=unrounded", {1, 1, 1, 2}, x);
  const Quantized stored(" dtype.codes=i8 dtype.scale=f16", {1, 1, 1, 2}, x);
  for (const auto& [q, code] : {std::pair(&unrounded, 63), std::pair(&stored, 64)}) {
    const Tensors answer = EvaluateByRecipe({q->c, q->inputs, q->by});
    EXPECT_THAT(answer[kScale].values.data, ElementsAre(1.0078125));
    EXPECT_THAT(answer[kCodes].values.data, ElementsAre(127, code));
  }
  EXPECT_EQ(unrounded.ErrorsWith({1}), unrounded.ErrorsWith({4})) << "not those of the answer";
  EXPECT_EQ(stored.ErrorsWith({1})[1], 0) << "a number divided by 1";
}

// amax of each row, and its scales. The largest e2m1 is 6, which is 1.5 * 2^2.
TEST(Quantize, ScalesArePowersOfTwo) {
  struct Row {
    double amax, floor, up, even;
  };
  for (const auto& [amax, floor, up, even] :
       {Row{4, 1, 1, 1}, Row{6, 1, 1, 1}, Row{6.5, 1, 2, 1}, Row{7, 1, 2, 2}, Row{6.99, 1, 2, 1},
        Row{7.99, 1, 2, 2}, Row{8, 2, 2, 2}, Row{12, 2, 2, 2}, Row{3.99, 0.5, 1, 1},
        Row{3, 0.5, 0.5, 0.5}, Row{0, 0x1p-127, 0x1p-127, 0x1p-127}}) {
    for (const auto& [rule, scale] :
         {std::pair("floor", floor), std::pair("up", up), std::pair("even", even)}) {
      const Quantized q(std::string(" dtype.codes=f4_e2m1 dtype.scale=e8m0 scale_rule=") + rule,
                        {1, 1, 1, 2}, {amax, 0});
      EXPECT_THAT(q.Values(kScale), ElementsAre(scale)) << rule << " " << amax;
      const double code = std::min(6.0, RoundTo(DType::kF32, amax / scale));
      EXPECT_THAT(q.Values(kCodes), ElementsAre(RoundTo(DType::kF4E2M1, code), 0)) << rule;
      EXPECT_THAT(EvaluateByRecipe({q.c, q.inputs, q.by})[kScale].values.data, ElementsAre(scale));
    }
  }
  // In f32, and for codes of e4m3fn, whose largest one is 1.75 * 2^8.
  const Quantized f32(" scale_rule=up", {1, 1, 1, 2}, {449, -1});
  EXPECT_THAT(f32.Values(kScale), ElementsAre(2));
  EXPECT_THAT(f32.Values(kCodes), ElementsAre(224, -0.5));
  EXPECT_THAT(Quantized(" scale_rule=floor", {1, 1, 1, 1}, {511}).Values(kCodes), ElementsAre(448))
      << "limited";
  EXPECT_THAT(Quantized(" scale_rule=even", {1, 1, 1, 1}, {495.9}).Values(kScale), ElementsAre(1));
  EXPECT_THAT(Quantized(" scale_rule=even", {1, 1, 1, 1}, {496}).Values(kScale), ElementsAre(2));
}

// NVFP4: e2m1 ends at 6, e4m3fn at 448, and its numbers from 1 on are 1/8 apart.
struct OfTensor : Quantized {
  OfTensor(double tensor_scale, const Shape& shape, Numbers x, const std::string& recipe = "native")
      : Quantized(" with=tensor_scale dtype.codes=f4_e2m1 dtype.scale=f8_e4m3fn", shape,
                  std::move(x), recipe) {
    inputs.push_back({"tensor_scale", DType::kF32, Tensor<double>({1}, {tensor_scale})});
  }
};

TEST(Quantize, ABlockHasAScaleInUnitsOfThatOfTheTensor) {
  const OfTensor q(0.5, {1, 1, 5, 2}, {12, 3.1875, 3.1875, 1, 3.5625, -1, 3e6, 672, 0x1p-12, 0});
  EXPECT_THAT(q.Values(kScale), ElementsAre(4, 1, 1.25, 448, 0));
  EXPECT_THAT(q.Values(kCodes), ElementsAre(6, 1.5, 6, 2, 6, -1.5, 6, 3, IsNan(), IsNan()))
      << "a scale that is 0 has no codes";
  EXPECT_THAT(EvaluateByRecipe({q.c, q.inputs, q.by})[kScale].values.data,
              ElementsAre(4, 1, 1.25, 448, 0));
  const Quantize op{.rounded_dtype = DType::kF4E2M1, .scale_dtype = DType::kF8E4M3FN};
  EXPECT_EQ(op.StoredQuotient(0x1p1020, 0x1p1020), 0.171875) << "1/6, though 6 * 2^1020 overflows";
  for (const double none : {0.0, -1.0, kNaN, kInfinity})
    EXPECT_THAT(OfTensor(none, {1, 1, 1, 2}, {6, 1}).Values(kCodes), Each(IsNan())) << none;
}

TEST(Quantize, AStaticScaleIsThatOfTheTensor) {
  Quantized q(" with=tensor_scale scale_rule=one dtype.codes=i8", {1, 1, 2, 2},
              {5, -3, kNaN, 1000});
  q.inputs.push_back({"tensor_scale", DType::kF32, Tensor<double>({1}, {2})});
  EXPECT_THAT(q.Values(kScale), ElementsAre(1, 1));
  EXPECT_THAT(q.Values(kCodes), ElementsAre(2, -2, IsNan(), 127));
}

// 1 / 3 is rounded where a kernel multiplies by it, or was given it.
TEST(Quantize, AKernelMayHaveTheReciprocalOfTheScaleOfTheTensor) {
  const Numbers x = {18, 15};  // 15 / 3 is the tie between 4 and 6
  const OfTensor divides(3, {1, 1, 1, 2}, x, "native quantize=f32:divide");
  EXPECT_EQ(divides.ErrorsWith({1})[1], 0);
  for (const char* recipe : {"native", "native quantize=f32:reciprocal"}) {
    const OfTensor q(3, {1, 1, 1, 2}, x, recipe);
    EXPECT_GE(q.ErrorsWith({1})[1], 5 * 3 * 0x1p-25) << recipe;
    EXPECT_LE(q.ErrorsWith({1})[1], 5 * 5 * 0x1p-24) << recipe;
  }
}

TEST(Quantize, IsUnspecifiedWhereNoScaleIs) {
  for (const double x : {kNaN, kInfinity}) {
    const Quantized power(" scale_rule=floor dtype.scale=e8m0", {2, 1, 1, 2}, {1, x, 448, 1});
    EXPECT_THAT(power.Values(kScale), ElementsAre(IsNan(), 1)) << x;
    EXPECT_THAT(power.Values(kCodes), ElementsAre(IsNan(), IsNan(), 448, 1)) << x;
  }
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
  EXPECT_EQ(error_of("dtype.codes=bf16"),
            "quantize: dtype.codes: 'bf16' is not one of: f8_e4m3fn f8_e5m2 f8_e4m3fnuz "
            "f8_e5m2fnuz f4_e2m1 i8 i4");
  EXPECT_EQ(error_of("dtype.scale=i8"),
            "quantize: dtype.scale: 'i8' is not one of: f64 f32 f16 bf16 f8_e4m3fn e8m0");
  EXPECT_EQ(error_of("dtype.scale=e8m0"),
            "quantize: scales of e8m0 are powers of two, expected scale_rule=, one of: floor up "
            "even");
  EXPECT_EQ(error_of("codes_by=unrounded scale_rule=up"),
            "quantize: a scale that is a power of two is not rounded, expected codes_by=stored");
  EXPECT_EQ(error_of("codes_by=unrounded dtype.scale=f8_e4m3fn"),
            "quantize: scales of 8 bits, expected codes_by=stored");
  EXPECT_EQ(error_of("codes_by=unrounded with=tensor_scale"),
            "quantize: with=tensor_scale, expected codes_by=stored");
  EXPECT_EQ(error_of("scale_rule=up with=tensor_scale"),
            "quantize: with=tensor_scale, expected scale_rule=quotient or scale_rule=one");
  EXPECT_EQ(error_of("scale_rule=one"),
            "quantize: scale_rule=one, expected with=tensor_scale and no least=");
  EXPECT_EQ(error_of("limit=129 dtype.codes=i8"),
            "quantize: limit=129 is beyond the largest number of i8, 127, by more than 1");
  EXPECT_EQ(error_of("limit=449"),
            "quantize: limit=449 is beyond the largest number of f8_e4m3fn, 448");
  EXPECT_EQ(error_of("limit=0"), "quantize: limit=0, expected a number above 0");
  EXPECT_EQ(error_of("least=-1"), "quantize: least=-1, expected 0 or more");
  EXPECT_EQ(MessageOf([] { ParseRecipe("native trig=f32:divide", DType::kF32); }),
            "form divide belongs to quantize=");
}

}  // namespace
}  // namespace sextant
