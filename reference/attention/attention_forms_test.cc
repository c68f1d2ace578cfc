// Tests of attention_scores, attention with a bias or a sink, and rope_attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(AttentionScores, AreProductsTimesTheScale) {
  const std::string line =
      "attention_scores H=2 K=1 S=1 T=2 D=4 @q=1,1,1,1,2,0,0,0 "
      "@k=1,2,3,4,5,6,7,8 ";
  EXPECT_THAT(DoublesOf(line), ElementsAre(5, 13, 1, 5));
  EXPECT_THAT(DoublesOf(line + "scale=3"), ElementsAre(30, 78, 6, 30));
}

TEST(AttentionScores, NeighbouringHeadsShareKeys) {
  EXPECT_THAT(DoublesOf("attention_scores B=2 H=2 K=1 S=1 T=1 D=1 @q=1,10,100,1000 @k=2,3"),
              ElementsAre(2, 20, 300, 3000));
}

const std::string kBias = "attention with=bias H=1 D=1 E=1 S=1 dtype=f64 ";

// The product is 6. The bias is added after scale and cap, or where add_bias says.
TEST(AttentionBias, IsAddedAfterScaleAndCapUnlessAddBias) {
  const std::string line = kBias + "scale=0.5 T=1 @q=2 @k=3 @bias=4 @v=1 ";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(7));
  EXPECT_THAT(DoublesOf(line + "add_bias=before_scale", 1), ElementsAre(5));
  EXPECT_NEAR(DoublesOf(line + "soft_cap=2", 1)[0], 2 * std::tanh(1.5) + 4, 1e-15);
  EXPECT_NEAR(DoublesOf(line + "soft_cap=2 add_bias=before_cap", 1)[0], 2 * std::tanh(3.5), 1e-15);
  EXPECT_NEAR(DoublesOf(line + "soft_cap=2 add_bias=before_scale", 1)[0], 2 * std::tanh(2.5),
              1e-15);
}

TEST(AttentionBias, HasAPlaceOnlyIfItExists) {
  EXPECT_THROW(Case::Parse("attention add_bias=before_cap H=1 K=1 S=1 T=1 D=1"), Error);
}

TEST(AttentionBias, BelongsToHeadQueryAndKey) {
  const std::string line = "attention with=bias H=2 K=1 D=1 E=1 S=2 T=1 @q=0 @bias=1,2,3,4";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(1, 2, 3, 4));
}

// Slices along heads and queries use the matching rows of the bias.
TEST(AttentionBias, IsSlicedWithTheQueries) {
  const Proof proof = ProofOf("attention with=bias H=3 K=1 D=1 E=128 S=120 T=1 @q=0 @bias=normal");
  EXPECT_EQ(proof.golden[1].high.data, proof.inputs[3].values.data);
}

const std::string kSink = "attention with=sink H=1 D=1 E=1 S=1 dtype=f64 ";

// Two scores of 0 and a sink of 0: all weights are 1/3. lse does not include the sink.
TEST(AttentionSink, ReducesTheWeightsButNotLse) {
  const std::string line = kSink + "T=2 @q=0 @v=3,9 @sink=0";
  EXPECT_THAT(DoublesOf(line), ElementsAre(DoubleNear(4, 1e-15)));
  EXPECT_NEAR(DoublesOf(line, 1)[0], std::log(2), 1e-15);
}

TEST(AttentionSink, IsNeitherScaledNorCapped) {
  const double y = DoublesOf(kSink + "T=1 scale=0.5 soft_cap=1 @q=0 @v=1 @sink=2")[0];
  EXPECT_NEAR(y, 1 / (1 + std::exp(2)), 1e-15);
}

TEST(AttentionSink, IsOneScorePerHead) {
  const auto y =
      DoublesOf("attention with=sink H=4 K=2 D=1 E=1 S=1 T=1 dtype=f64 @q=0 @v=1 @sink=0,1,2,3");
  for (size_t h = 0; h < 4; ++h) {
    EXPECT_NEAR(y[h], 1 / (1 + std::exp(static_cast<double>(h))), 1e-15) << h;
  }
}

// The sink takes all the weight where no key is seen.
TEST(AttentionSink, OfARowWithoutKeysGivesZero) {
  const std::string line = kSink + "T=0 @q=0 @sink=2 empty_rows=";
  EXPECT_THAT(DoublesOf(line + "unspecified"), ElementsAre(0));
  EXPECT_THAT(DoublesOf(line + "zero"), ElementsAre(0));
}

// Two scores of 0 + 1 and a sink of 1, which has no bias: all weights are 1/3.
TEST(AttentionSink, IsNotBiased) {
  const std::string line =
      "attention with=bias,sink H=1 D=1 E=1 S=1 dtype=f64 T=2 @q=0 @v=3,9 @bias=1,1 @sink=1";
  EXPECT_THAT(DoublesOf(line), ElementsAre(DoubleNear(4, 1e-15)));
  EXPECT_NEAR(DoublesOf(line, 1)[0], std::log(2) + 1, 1e-15);
}

// Of two key heads; query heads 0 and 1 share the first one.
TEST(Attention, ScalesMultiplyTheOperandsOfTheirKeyHead) {
  const std::string line = "attention H=4 K=2 S=1 T=2 D=1 E=1 scale=1 dtype=f64 ";
  EXPECT_EQ(DoublesOf(line + "with=q_scale,k_scale,v_scale @q=1,2,3,4 @k=1,2,1,2 @v=1,3,1,3 "
                             "@q_scale=0.5,0.25 @k_scale=2,1 @v_scale=4,16"),
            DoublesOf(line + "@q=0.5,1,0.75,1 @k=2,4,1,2 @v=4,12,16,48"));
}

const std::string kRope = "rope_attention H=1 S=1 T=1 D=2 E=1 scale=1 dtype=f64 pairing=half ";

// q = k = (1, 0) at 5 and 3: the product is cos 2.
TEST(RopeAttention, ScoresDependOnTheDifferenceOfPositions) {
  const std::string line = kRope + "@q=1,0 @k=1,0 @v=1 ";
  EXPECT_NEAR(DoublesOf(line + "@position_q=5 @position_k=3", 1)[0], std::cos(2), 1e-15);
  EXPECT_NEAR(DoublesOf(line + "@position_q=1 @position_k=3", 1)[0], std::cos(2), 1e-15);
  EXPECT_NEAR(DoublesOf(kRope + "@q=1,0 @k=0,1 @v=1 @position_q=5 @position_k=3", 1)[0],
              std::sin(2), 1e-15);
}

TEST(RopeAttention, DoesNotRotateValues) {
  EXPECT_THAT(DoublesOf("rope_attention pairing=half H=1 S=1 T=1 D=2 @v=3,4 @position_k=9"),
              ElementsAre(3, 4));
}

// A query at position 0 attends to a key at position 7: the mask depends on indices, not positions.
TEST(RopeAttention, MaskDependsOnIndicesNotPositions) {
  EXPECT_THAT(DoublesOf("rope_attention pairing=half H=1 S=1 T=2 D=2 E=1 mask=causal @q=0,0 @v=3,5 "
                        "@position_q=0 @position_k=7,8"),
              ElementsAre(4));
}

}  // namespace
}  // namespace sextant
