#include "reference/layer/add_rms_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr size_t kY = 0, kSum = 1;

// The sums are 4 - 3 = 1 and 2 + 5 = 7; mean(1, 49) = 25.
TEST(AddRmsNorm, AnswersTheSumAndItsNorm) {
  const std::string line = "add_rms_norm N=1 M=2 eps=0 @x=4,2 @residual=-3,5 @weight=5,10";
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(1, 14));
  EXPECT_THAT(DoublesOf(line, kSum), ElementsAre(1, 7));
  EXPECT_THAT(DoublesOf(line + " unit_offset=true", kY), ElementsAre(1.2, 15.4));
}

// In bf16 256 + 1.5 rounds up to 258, and 256 + 1 is a tie that rounds to 256. So the norm reads
// the rows (258, 256) and (256, 256), in exact arithmetic too.
TEST(AddRmsNorm, NormReadsTheRoundedSum) {
  const std::string line =
      "add_rms_norm N=2 M=2 eps=0 dtype=bf16 @x=256,256 @residual=1.5,0,1,0 @weight=1,1";
  EXPECT_THAT(DoublesOf(line, kSum), ElementsAre(258, 256, 256, 256));
  EXPECT_EQ(DoublesOf(line, kY)[2], 1);
  EXPECT_EQ(DoublesOf(line, kY)[3], 1);
  const std::string alone = "rms_norm N=1 M=2 eps=0 dtype=bf16 @x=258,256 @weight=1,1";
  EXPECT_EQ(DoublesOf(line, kY)[0], DoublesOf(alone)[0]);
  EXPECT_THAT(DoublesOf(line + " dtype.sum=f32", kSum), ElementsAre(257.5, 256, 257, 256));
}

TEST(AddRmsNorm, PermitsNoErrorOfTheSumAndTheErrorOfTheNormInY) {
  for (const std::string recipe : {"native", "f32_compute", "*=exact", "exact_table"}) {
    for (const std::string dtype : {"f32", "bf16"}) {
      const Proof proof = ProofOf("add_rms_norm N=2 M=5 dtype=" + dtype, recipe);
      EXPECT_THAT(proof.golden[kSum].permitted.data, Each(0)) << recipe;
      std::string sum;
      for (const double x : proof.golden[kSum].value.data) {
        sum += (sum.empty() ? "" : ",") + PrintValue(x);
      }
      const Proof norm = ProofOf("rms_norm N=2 M=5 dtype=" + dtype + " @x=" + sum, recipe);
      EXPECT_EQ(proof.golden[kY].permitted.data, norm.golden[0].permitted.data) << recipe;
      EXPECT_EQ(proof.golden[kY].high.data, norm.golden[0].high.data) << recipe;
    }
  }
}

// With a step keep wider than the stored sum, a recipe may normalise the wider sum, which differs
// from 258 by a factor of at most 1 +- 2^-9.
TEST(AddRmsNorm, ARecipeMayKeepAWiderSum) {
  const std::string line =
      "add_rms_norm N=1 M=2 eps=0 dtype=bf16 @x=256,256 @residual=1.5,0 @weight=1,1";
  const std::string wide = "*=f32 keep=f32 store=T";
  const Proof kept = ProofOf(line, "f32_compute"), unrounded = ProofOf(line, wide);
  EXPECT_EQ(unrounded.golden[kY].high.data, kept.golden[kY].high.data);
  EXPECT_GT(unrounded.golden[kY].permitted.data[0], kept.golden[kY].permitted.data[0] + 0x1p-10);
  EXPECT_THAT(unrounded.golden[kSum].permitted.data, Each(0));
  const auto answer = [](const Proof& p, const std::string& recipe) {
    return EvaluateByRecipe({p.c, p.inputs, ParseRecipe(recipe, p.c.dtype())});
  };
  const Proof fine = ProofOf(line + " dtype.y=f32", wide);
  const double other = 257.5 / std::sqrt((257.5 * 257.5 + 256 * 256) / 2);
  EXPECT_NEAR(answer(fine, wide)[kY].values.data[0], other, 1e-6);
  EXPECT_EQ(answer(fine, wide)[kSum].values.data[0], 258);
  EXPECT_NEAR(answer(fine, "f32_compute")[kY].values.data[0], fine.golden[kY].high.data[0], 1e-6);
}

TEST(AddRmsNorm, AnOverflowingSumIsUnspecified) {
  const std::string line = "add_rms_norm N=1 M=2 dtype=f16 @x=60000,1 @residual=60000,1";
  EXPECT_THAT(DoublesOf(line, kSum), ElementsAre(testing::IsNan(), 2));
  EXPECT_THAT(DoublesOf(line, kY), Each(testing::IsNan()));
}

}  // namespace
}  // namespace sextant
