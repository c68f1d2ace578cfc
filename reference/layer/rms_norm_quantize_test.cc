#include "reference/layer/rms_norm_quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsNan;

using Numbers = std::vector<double>;

auto ProvenOfNorm(const std::string& line) {
  const Case c = Case::Parse(line);
  return Prove({c, DrawInputs(c), ParseRecipe("native", c.dtype())});
}

// The mean square of 3, 4, 0, 0 with eps 2.75 is 9: y is x / 3 times the weight.
TEST(RmsNormQuantize, QuantizesTheWeightedNorm) {
  const auto y = ProvenOfNorm(
      "rms_norm_quantize eps=2.75 N=1 G=2 M=2 dtype.codes=i8 @x=3,4,0,0 @weight=127,0.75,1,1");
  EXPECT_THAT(y[0].value.data, ElementsAre(1, 0));
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 1, IsNan(), IsNan()));
}

TEST(RmsNormQuantize, AddsTheResidualBeforeTheNorm) {
  const auto y = ProvenOfNorm(
      "rms_norm_quantize with=residual eps=2.75 N=1 G=1 M=4 dtype.codes=i8 @x=1,6,-1,0 "
      "@residual=2,-2,1,0 @weight=254,1.5,1,1");
  EXPECT_THAT(y[0].value.data, ElementsAre(2));
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 1, 0, 0));
}

// The row has the root 3; weighted, its blocks have the largest numbers 64 and 128.
TEST(RmsNormQuantize, TheNormIsOfTheRowAndAScaleOfABlock) {
  const auto y = ProvenOfNorm(
      "rms_norm_quantize eps=2.75 scale_rule=floor N=1 G=2 M=2 dtype.codes=i8 @x=3,0,0,4 "
      "@weight=64,1,1,96");
  EXPECT_THAT(y[0].value.data, ElementsAre(1, 2));
  EXPECT_THAT(y[1].value.data, ElementsAre(64, 0, 0, 64));
}

// 4/3 * 0.75 is 1, exactly; codes are 1 / 0.25, and 3/3 / 0.25.
TEST(RmsNormQuantize, AGivenScaleIsThatOfTheTensor) {
  const auto y = ProvenOfNorm(
      "rms_norm_quantize with=tensor_scale scale_rule=one eps=2.75 N=1 G=1 M=4 dtype.codes=i8 "
      "@x=3,4,0,0 @weight=1,0.75,1,1 @tensor_scale=0.25");
  EXPECT_THAT(y[0].value.data, ElementsAre(1));
  EXPECT_THAT(y[1].value.data, ElementsAre(4, 4, 0, 0));
}

// y = 8.5 + 5 2^-10 is 8.5 in bf16, a tie of codes.
TEST(RmsNormQuantize, PermitsYRoundedAndNotRoundedByDefault) {
  const std::string line =
      "rms_norm_quantize with=tensor_scale scale_rule=one eps=0 N=1 G=1 M=1 dtype=bf16 "
      "dtype.codes=i8 @x=1 @weight=8.5048828125 @tensor_scale=1";
  const Case c = Case::Parse(line);
  const auto permitted = [&](const std::string& recipe) {
    return ProveAndPermit({c, DrawInputs(c), ParseRecipe(recipe, DType::kBF16)})
        .permitted[1]
        .before_rounding[0];
  };
  EXPECT_GE(permitted("native"), 0.0048828125);
  EXPECT_LT(permitted("native keep=f32 weigh=f32"), 0.0048828125);
}

// At the border of two powers of two the ladder's quicker levels do not decide.
TEST(RmsNormQuantize, TheScaleIsThatOfEnoughDigits) {
  for (const std::string line :
       {"rms_norm_quantize eps=0 scale_rule=even dtype.codes=f8_e5m2 N=1 G=1 M=9 "
        "@x=35,28,28,14,7,7,7,0,0 @weight=1,1,1,1,1,1,1,1,1",
        "gated_quantize kind=reglu scale_rule=floor N=1 G=1 M=2 dtype=f64 "
        "@gate=1.000000000931322574615478515625,0 @up=0.999999999068677425384521484375,1"}) {
    const Case c = Case::Parse(line);
    const Recipe native = ParseRecipe("native", c.dtype());
    const Tensors inputs = DrawInputs(c);
    const auto y = Prove({c, inputs, native});
    const auto by_mpfr = Prove({c, inputs, native}, {.engine = Engine::kMpfr});
    for (size_t o = 0; o < y.size(); ++o) {
      EXPECT_THAT(y[o].value.data, testing::Each(testing::Not(IsNan()))) << line;
      EXPECT_EQ(y[o].value.data, by_mpfr[o].value.data) << line;
    }
  }
}

TEST(RmsNormQuantize, NanStaysInItsRow) {
  const Case c =
      Case::Parse("rms_norm_quantize eps=0 N=2 G=1 M=2 dtype.codes=i8 @x=1,0,1,0 @weight=127,1");
  Tensors inputs = DrawInputs(c);
  inputs[0].values.data[3] = std::numeric_limits<double>::quiet_NaN();
  const auto y = Prove({c, inputs, ParseRecipe("native", DType::kF32)});
  EXPECT_THAT(y[0].value.data[1], IsNan());
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 0, IsNan(), IsNan()));
}

}  // namespace
}  // namespace sextant
