#include "reference/layer/linear_scaled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Two tokens and two rows of the weight, in two blocks of two: (1 2 | 3 4) (1 0 | 0 -1) is
// 1 | -4, and (5 6 | 7 8) (2 2 | 2 2) is 22 | 30.
TEST(LinearScaled, MultipliesTheSumOfEachBlockByItsScales) {
  const std::string line =
      " N=2 B=1 G=2 M=2 F=2 A=1 dtype.weight=i8 @x=1,2,3,4,5,6,7,8 @weight=1,0,0,-1,2,2,2,2 "
      "@weight_scale=1,0.5,10,100";
  EXPECT_THAT(DoublesOf("linear_scaled" + line), ElementsAre(1 - 2, 60 + 1400, 5 - 4, 220 + 3000));
  EXPECT_THAT(DoublesOf("linear_scaled with=x_scale" + line + " @x_scale=2,4,8,16"),
              ElementsAre(2 - 8, 120 + 5600, 40 - 64, 1760 + 48000));
}

// Two rows of each share their scales, [1] and [1]; y is [N,B,F,A].
TEST(LinearScaled, ABlockMayHaveRows) {
  EXPECT_THAT(DoublesOf("linear_scaled with=x_scale,bias N=1 B=2 G=1 M=1 F=2 A=2 dtype.weight=i8 "
                        "@x=1,2 @weight=1,2,3,4 @weight_scale=1,10 @x_scale=3 @bias=0.5,0,0,7"),
              ElementsAre(3.5, 6, 90, 127, 6.5, 12, 180, 247));
}

// (3 - 1, 4 - 1) (5 - 2, 6 - 2) is 18; 0 and 2 take the place of 1 and 2 in the second block.
TEST(LinearScaled, CodesCountFromTheZeroPointsOfTheirBlocks) {
  const std::string line =
      " N=1 B=1 G=2 M=2 F=1 A=1 dtype.x=i8 dtype.weight=i8 @x=3,4,3,4 @weight=5,6,5,6 "
      "@weight_scale=1,100 @weight_zero=2,2";
  EXPECT_THAT(DoublesOf("linear_scaled with=weight_zero" + line), ElementsAre(25 + 2500));
  EXPECT_THAT(DoublesOf("linear_scaled with=x_scale,weight_zero,x_zero" + line +
                        " @x_scale=1,1 @x_zero=1,0"),
              ElementsAre(18 + 2500));
}

TEST(LinearScaled, IsTheBiasWithoutBlocks) {
  EXPECT_THAT(DoublesOf("linear_scaled with=bias N=1 B=1 G=0 M=2 F=2 A=1 @bias=3,4"),
              ElementsAre(3, 4));
  EXPECT_THAT(DoublesOf("linear_scaled N=1 B=1 G=1 M=0 F=2 A=1"), Each(0));
}

// 3 * 1.1 is rounded to bf16 before its product with 1, or the sum 3 is multiplied.
TEST(LinearScaled, TheRecipeSaysWhatIsScaled) {
  const std::string line =
      "linear_scaled N=1 B=1 G=1 M=1 F=1 A=1 dtype.weight=i8 @x=1 @weight=3 "
      "@weight_scale=0x1.19999ap0";
  const auto permitted = [&](const std::string& recipe) {
    return ProofOf(line, recipe).golden[0].permitted.data[0];
  };
  const double y = 3 * 0x1.19999ap0;
  EXPECT_LT(permitted("native scale=f32:blocks"), y * 0x1p-23);
  EXPECT_GE(permitted("native"), permitted("native scale=f32:operands"));
  EXPECT_LT(permitted("native"), y * 0x1p-22);
  EXPECT_LT(permitted("native scale=f32:operands"), y * 0x1p-22);
  EXPECT_GT(permitted("native scale=bf16:operands"), y * 0x1p-10);
  EXPECT_LT(permitted("native scale=bf16:operands"), y * 0x1p-7);
}

// Each way of the recipe, in every dtype, near underflow, and where a sum cancels.
TEST(LinearScaled, TheDefaultPermitsBothWays) {
  for (const std::string words :
       {"with=x_scale N=3 B=2 G=2 M=5 F=3 A=2 dtype.x=f8_e4m3fn",
        "with=x_scale N=3 B=1 G=1 M=1 F=5 A=1 dtype=bf16 dtype.x=i8 dtype.weight=i8",
        "N=2 B=1 G=3 M=4 F=2 A=2 dtype=f64 dtype.weight=i8",
        "with=x_scale N=2 B=1 G=2 M=3 F=2 A=1 dtype=f16 dtype.weight_scale=e8m0",
        "with=x_scale N=1 B=1 G=1 M=4 F=1 A=1 dtype.weight=i8 @x=0x1.8p-76,0x1.8p-76,0x1.8p-76,"
        "0x1.8p-76 @weight=1,1,1,1 @weight_scale=0x1.8p-76 @x_scale=0x1p120"}) {
    const auto permitted = [&](const std::string& recipe) {
      return ProofOf("linear_scaled " + words, recipe).golden[0].permitted.data;
    };
    const auto any = permitted("native");
    for (const char* way : {"native scale=f32:blocks", "native scale=f32:operands"}) {
      const std::string recipe =
          words.find("f64") == words.npos ? way : std::regex_replace(way, std::regex("f32"), "f64");
      const auto own = permitted(recipe);
      for (size_t i = 0; i < own.size(); ++i) EXPECT_GE(any[i], own[i]) << words << recipe << i;
    }
  }
}

// A scaled weight that is subnormal errs by half a unit of 2^-1074, which x multiplies.
TEST(LinearScaled, UnderflowIsPermitted) {
  const Proof proof = ProofOf(
      "linear_scaled N=1 B=1 G=1 M=1 F=1 A=1 dtype=f64 @x=0x1p600 @weight=0.5625 "
      "@weight_scale=0x1.cp-1060");
  EXPECT_GE(proof.golden[0].permitted.data[0], 0x1p-475);
  EXPECT_LE(proof.golden[0].permitted.data[0], 0x1p-465);
}

// 3 sums of 1e38 each overflow before a small scale multiplies them.
TEST(LinearScaled, WhatMayOverflowIsNotJudged) {
  const Proof proof = ProofOf(
      "linear_scaled N=1 B=1 G=1 M=4 F=1 A=1 dtype.weight=i8 @x=0x1p127,0x1p127,0x1p127,1 "
      "@weight=1,1,1,1 @weight_scale=0x1p-100");
  EXPECT_EQ(proof.golden[0].permitted.data[0], kInfinity);
}

// A row does not count in the bounds of another.
TEST(LinearScaled, RowsHaveBoundsOfTheirOwn) {
  const auto permitted = [](const std::string& x) {
    return ProofOf("linear_scaled N=2 B=1 G=1 M=2 F=1 A=1 @weight=1,-1 @weight_scale=0.5 @x=" + x)
        .golden[0]
        .permitted.data[1];
  };
  EXPECT_EQ(permitted("0x1p126,0x1p126,1,1"), permitted("1,1,1,1"));
}

TEST(LinearScaled, RefusesOtherFormsAndTypes) {
  EXPECT_EQ(MessageOf([] { ParseRecipe("native dot=f32:operands", DType::kF32); }),
            "form operands belongs to scale=");
  EXPECT_THAT(MessageOf([] { Case::Parse("linear_scaled N=1 B=1 G=1 M=1 F=1 A=1 dtype.x=e8m0"); }),
              HasSubstr("dtype.x: 'e8m0' is not one of: f64 f32 f16 bf16 f8_e4m3fn"));
}

}  // namespace
}  // namespace sextant
