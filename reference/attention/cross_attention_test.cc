#include "reference/attention/cross_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

constexpr size_t kY = 0, kQ = 1, kK = 2, kV = 3, kMean = 4;

// One query (1,2), one token (3,5) of memory, and biases 100, 200 and 300: q = 1 * 1 + 2 * 10 +
// 100, k = 3 * 2 + 5 * 20 + 200, v = 3 * 4 + 5 * 40 + 300.
const std::string kOneToken =
    "cross_attention S=1 T=1 M=2 H=1 D=1 @x=1,2 @memory=3,5 @wq=1,10 @bq=100 @wk=2,20 @bk=200 "
    "@wv=4,40 @bv=300 @wo=1,-2 @bo=7,8";

TEST(CrossAttention, ProjectsQueriesOfXAndKeysAndValuesOfMemory) {
  EXPECT_THAT(DoublesOf(kOneToken, kQ), ElementsAre(121));
  EXPECT_THAT(DoublesOf(kOneToken, kK), ElementsAre(306));
  EXPECT_THAT(DoublesOf(kOneToken, kV), ElementsAre(512));
  EXPECT_THAT(DoublesOf(kOneToken, kMean), ElementsAre(512));  // the only token has weight 1
  EXPECT_THAT(DoublesOf(kOneToken, kY), ElementsAre(512 + 7, -1024 + 8));
}

// D = 4 and products 0 and 2 ln 3: the scores are 0 and ln 3, the weights 1/4 and 3/4.
TEST(CrossAttention, DividesScoresByTheRootOfTheHeadWidth) {
  const std::string line =
      "cross_attention S=1 T=2 M=1 H=2 D=4 dtype=f64 @x=1 @memory=0,1 @wq=1,0,0,0,1,0,0,0 "
      "@bq=0,0,0,0,0,0,0,0 @wk=0x1.193ea7aad030bp+1,0,0,0,0,0,0,0 @bk=0,0,0,0,0,0,0,0 "
      "@wv=4,0,0,0,8,0,0,0 @bv=0,0,0,0,0,0,0,0 @wo=1,0,0,0,1,0,0,0 @bo=0 ";
  // Head 0: 3/4 of 4. Head 1: all its keys are 0, so both weights are 1/2; half of 8.
  EXPECT_NEAR(DoublesOf(line, kMean)[0], 3, 1e-15);
  EXPECT_NEAR(DoublesOf(line, kMean)[4], 4, 1e-15);
  EXPECT_NEAR(DoublesOf(line)[0], 7, 1e-15);
  const double weight = 9. / 10;  // with scale=1 the scores are 0 and 2 ln 3
  EXPECT_NEAR(DoublesOf(line + "scale=1", kMean)[0], 4 * weight, 1e-15);
}

// Four query heads, two key heads, one channel: heads 0 and 1 read key head 0.
TEST(CrossAttention, ConcatenatesHeads) {
  const std::string line =
      "cross_attention S=2 T=1 M=1 H=4 K=2 D=1 @x=1,2 @memory=1 @wv=10,20 @bv=0,0 "
      "@wo=1,2,4,8 @bo=0 ";
  EXPECT_THAT(DoublesOf(line, kMean), ElementsAre(10, 10, 20, 20, 10, 10, 20, 20));
  EXPECT_THAT(DoublesOf(line), ElementsAre(10 * 3 + 20 * 12, 10 * 3 + 20 * 12));
}

TEST(CrossAttention, DoesNotReadPadding) {
  const std::string line =
      "cross_attention S=1 T=3 M=1 H=1 D=1 @x=1 @memory=1,2,100 @wk=0 @wv=1 @bv=0 @wo=1 @bo=0 ";
  EXPECT_THAT(DoublesOf(line + "key_length=[2]"), ElementsAre(1.5));
  EXPECT_THAT(DoublesOf(line + "key_length=[0]"), Each(IsNan()));
  EXPECT_THAT(DoublesOf(line + "key_length=[0] empty_rows=zero"), ElementsAre(0));
}

// The scores 1 and 9 are both capped to about 1e-20, so both weights are 1/2.
TEST(CrossAttention, CapsScores) {
  const std::string line =
      "cross_attention S=1 T=2 M=1 H=1 D=1 dtype=f64 @x=1 @memory=1,9 @wq=1 @bq=0 @wk=1 @bk=0 "
      "@wv=1 @bv=0 @wo=1 @bo=0 ";
  EXPECT_NEAR(DoublesOf(line + "soft_cap=1e-20")[0], 5, 1e-15);
  EXPECT_GT(DoublesOf(line)[0], 8.9);
}

// In f16 the products are infinities of both signs. Their sum is NaN, and the cap of NaN is NaN.
TEST(CrossAttention, CapDoesNotLimitTheErrorOfNaN) {
  const std::string line =
      "cross_attention S=1 T=2 M=1 H=1 D=2 dtype=f16 soft_cap=2 @x=1 @memory=1,1 @wq=256,256 "
      "@bq=0,0 @wk=256,-256 @bk=0,0";
  EXPECT_EQ(ProofOf(line, "all_native").golden[kY].permitted.data[0], INFINITY);
  EXPECT_LT(ProofOf(line, "native").golden[kY].permitted.data[0], 0.1);
}

// In bf16 v, the mean and y lie just below 2, where half an ulp is 2^-8. Errors may raise the mean
// and y above 2, where half an ulp is 2^-7.
TEST(CrossAttention, PermitsTheRoundingOfIntermediates) {
  const std::string line =
      "cross_attention S=1 T=1 M=1 H=1 D=1 @x=1 @memory=1 @wv=0x1.fep0 @bv=0x1.02p-8 @wo=1 @bo=0 "
      "dtype=bf16";
  const auto permitted = [&](const char* recipe) {
    return ProofOf(line, recipe).golden[0].permitted.data[0];
  };
  EXPECT_LT(permitted("*=f32 store=T"), 1.01 * 0x1p-8);
  EXPECT_GE(permitted("*=f32 keep=T store=T"), 3 * 0x1p-8);
  EXPECT_LT(permitted("*=f32 keep=T store=T"), 6 * 0x1p-8);
}

TEST(CrossAttention, RefusesInvalidAttributes) {
  EXPECT_THROW(Case::Parse("cross_attention S=1 T=2 M=2 H=3 K=2 D=1"), Error);
  EXPECT_THROW(Case::Parse("cross_attention S=1 T=2 M=2 H=1 D=1 key_length=[3]"), Error);
  EXPECT_THROW(Case::Parse("cross_attention S=1 T=2 M=2 H=1 D=1 key_length=[1,2]"), Error);
  EXPECT_THROW(Case::Parse("cross_attention S=1 T=2 M=2 H=1 D=1 soft_cap=0"), Error);
}

}  // namespace
}  // namespace sextant
