#include "reference/block/encoder_block.h"

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

constexpr size_t kEncoded = 0, kEncoderAttentionOut = 1, kEncoderMiddle = 2, kEncoderHidden = 3;

const std::string kNoAttention = "@wo=0,0 @bo=0,0 ", kNoFeedForward = "@w2=0,0,0,0 @b2=0,0 ";
// One token (5,3), with mean 4 and variance 1: normalised with eps 0 it is (1,-1).
const std::string kEncoderToken =
    "encoder_block eps=0 S=1 M=2 H=1 D=1 F=2 @x=1,2 @position_table=4,1 ";

TEST(EncoderBlock, AddsPositionsToTheInput) {
  EXPECT_THAT(DoublesOf(kEncoderToken + kNoAttention + kNoFeedForward + "placement=pre"),
              ElementsAre(5, 3));
}

TEST(EncoderBlock, PostNormalisesBothSums) {
  const std::string line = kEncoderToken + kNoAttention + kNoFeedForward +
                           "placement=post @norm1_weight=2,4 @norm1_bias=1,1 @norm2_weight=10,20 "
                           "@norm2_bias=0.5,0.25 ";
  EXPECT_THAT(DoublesOf(line, kEncoderMiddle), ElementsAre(3, -3));
  EXPECT_THAT(DoublesOf(line), ElementsAre(10.5, -19.75));
}

// v = 2 * 1 - 1 + 5; the only token has weight 1.
TEST(EncoderBlock, PreAddsAttentionOfTheNormalisedInput) {
  const std::string line = kEncoderToken + kNoFeedForward +
                           "placement=pre @norm1_weight=1,1 @norm1_bias=0,0 @wv=2,1 @bv=5 "
                           "@wo=1,10 @bo=0.5,0.5 ";
  EXPECT_THAT(DoublesOf(line, kEncoderAttentionOut), ElementsAre(6.5, 60.5));
  EXPECT_THAT(DoublesOf(line, kEncoderMiddle), ElementsAre(11.5, 63.5));
  EXPECT_THAT(DoublesOf(line), ElementsAre(11.5, 63.5));
}

// Post: v = 2 * 5 + 3 + 5; (5,3) + (18.5, 12.5) has mean 19.5 and standard deviation 4.
TEST(EncoderBlock, PostNormalisesTheSumOfInputAndAttention) {
  const std::string line = kEncoderToken +
                           "placement=post @norm1_weight=1,1 @norm1_bias=0,0 @wv=2,1 @bv=5 "
                           "@wo=1,0.5 @bo=0.5,3.5 ";
  EXPECT_THAT(DoublesOf(line, kEncoderAttentionOut), ElementsAre(18.5, 12.5));
  EXPECT_THAT(DoublesOf(line, kEncoderMiddle), ElementsAre(1, -1));
}

// w1 (1,-1) + b1 = (2,-2), and relu gives (2,0).
TEST(EncoderBlock, AppliesTheActivationBetweenTheLinearLayers) {
  const std::string line = kEncoderToken + kNoAttention +
                           "placement=pre @norm2_weight=1,1 @norm2_bias=0,0 @w1=3,1,1,3 "
                           "@b1=0,0 @w2=10,4,7,10 @b2=1,2 ";
  EXPECT_THAT(DoublesOf(line, kEncoderHidden), ElementsAre(2, 0));
  EXPECT_THAT(DoublesOf(line), ElementsAre(5 + 21, 3 + 16));
  const double gelu = 1 + std::erf(std::sqrt(2.));  // 2 Phi(2)
  EXPECT_NEAR(DoublesOf(line + "kind=gelu", kEncoderHidden)[0], gelu, 1e-15);
  EXPECT_NEAR(DoublesOf(line + "kind=gelu", kEncoderHidden)[1], gelu - 2, 1e-15);
}

// Two tokens; all scores are 0, so every visible token has the same weight.
TEST(EncoderBlock, MasksLaterTokensAndPadding) {
  const std::string line =
      "encoder_block S=2 M=2 H=1 D=1 F=2 @x=2,0,0,6 @position_table=0,0,0,0 @wk=0,0 @wv=1,1 @bv=0 "
      "@wo=1,0 @bo=0,0 ";
  EXPECT_THAT(DoublesOf(line, kEncoderAttentionOut), ElementsAre(4, 0, 4, 0));
  EXPECT_THAT(DoublesOf(line + "mask=causal", kEncoderAttentionOut), ElementsAre(2, 0, 4, 0));
  EXPECT_THAT(DoublesOf(line + "key_length=[1]", kEncoderAttentionOut), ElementsAre(2, 0, 2, 0));
  EXPECT_THAT(DoublesOf(line + "mask=causal key_length=[1]", kEncoderAttentionOut),
              ElementsAre(2, 0, 2, 0));
}

TEST(EncoderBlock, EmptyRowsDecidesTheOutputWithoutVisibleTokens) {
  const std::string line =
      "encoder_block placement=pre key_length=[0] S=1 M=2 H=1 D=1 F=2 @wo=5,5 @bo=1,2 ";
  EXPECT_THAT(DoublesOf(line, kEncoderAttentionOut), Each(IsNan()));
  EXPECT_THAT(DoublesOf(line + "empty_rows=zero", kEncoderAttentionOut), ElementsAre(1, 2));
}

// Variance 1 + eps 3 = 4: (5,3) becomes (1/2,-1/2).
TEST(EncoderBlock, AddsEpsInsideTheRoot) {
  const std::string line =
      "encoder_block eps=3 S=1 M=2 H=1 D=1 F=2 @x=5,3 @position_table=0,0 @norm1_weight=1,1 "
      "@norm1_bias=0,0 " +
      kNoAttention + kNoFeedForward;
  EXPECT_THAT(DoublesOf(line, kEncoderMiddle), ElementsAre(0.5, -0.5));
}

TEST(EncoderBlock, RefusesInvalidAttributes) {
  EXPECT_THROW(Case::Parse("encoder_block S=1 M=2 H=3 K=2 D=1 F=1"), Error);
  EXPECT_THROW(Case::Parse("encoder_block S=1 M=2 H=1 D=1 F=1 eps=-1"), Error);
  EXPECT_THROW(Case::Parse("encoder_block S=1 M=2 H=1 D=1 F=1 key_length=[2]"), Error);
  EXPECT_THROW(Case::Parse("encoder_block S=1 M=2 H=1 D=1 F=1 kind=swish"), Error);
}

}  // namespace
}  // namespace sextant
