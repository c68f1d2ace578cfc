#include "reference/block/decoder_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/block/decoder_outputs_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// One token of width 2, one head: the output of attention is the value.
//   x = (3,4), mean square 12.5, eps 12.5: norm (3,4) / 5
//   v = wv (0.6,0.8) = (0.8,0.6); attention_out = wo v = 5 (0.8,0.6) = (4,3); middle = (7,7)
const std::string kOneToken =
    " pairing=half eps=12.5 S=1 M=2 H=1 D=2 F=1 dtype=f64 @x=3,4 @attn_norm=1,1 @wv=0,1,1,0 "
    "@wo=5,0,0,5 @mlp_norm=1,1 @position=9 ";

TEST(DecoderBlock, AddsAttentionOfTheNormalisedInput) {
  const std::string line = "decoder_block" + kOneToken + "kind=reglu @gate=0,0 @up=1,1 @down=1,1";
  EXPECT_THAT(DoublesOf(line, kNormed), ElementsAre(0.6, 0.8));
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(4, 3));
  EXPECT_THAT(DoublesOf(line, kMiddle), ElementsAre(7, 7));
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(7, 7));  // the gate is 0
}

// The input of the feed-forward is (7,7) / sqrt(49 + 12.5). With gate = (1,0) and up = (0,1),
// hidden is 49 / 61.5.
TEST(DecoderBlock, FeedForwardReadsTheNormalisedMiddle) {
  const std::string line =
      "decoder_block" + kOneToken + "kind=reglu @gate=1,0 @up=0,1 @down=61.5,0";
  EXPECT_THAT(DoublesOf(line, kHidden), ElementsAre(49 / 61.5));
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(56, 7));
}

// Parallel: hidden is 3/5 * 4/5, from the normalised input alone.
TEST(DecoderBlock, ParallelFeedForwardDoesNotReadAttention) {
  const std::string line =
      "decoder_block" + kOneToken + "placement=parallel kind=reglu @gate=1,0 @up=0,1 @down=25,0";
  EXPECT_THAT(DoublesOf(line, kHidden), ElementsAre(12.0 / 25));
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(19, 7));
}

// Branch: attention reads x = (3,4) itself, so attention_out = 5 (4,3) = (20,15); its norm is
// (20,15) / sqrt(312.5 + 12.5).
TEST(DecoderBlock, BranchNormalisesTheOutputOfAttention) {
  const std::string line =
      "decoder_block" + kOneToken + "placement=branch kind=reglu @gate=0,0 @up=1,1 @down=1,1";
  EXPECT_THAT(DoublesOf(line, kNormed), ElementsAre(3, 4));
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(20, 15));
  EXPECT_NEAR(DoublesOf(line, kMiddle)[0], 3 + 20 / std::sqrt(325.0), 0x1p-50);
}

// The frequency base^0 is 1 radian per token: no rotation at position 0, 1 radian at position 1.
TEST(DecoderBlock, QueriesAreRotatedByTheirPositions) {
  const std::string line =
      "decoder_block pairing=half eps=0 kind=reglu S=2 M=2 H=1 D=2 F=1 dtype=f64 "
      "@x=1,1,1,1 @attn_norm=1,1 @wq=1,0,0,0 @position=0,1";
  EXPECT_THAT(DoublesOf(line, kQuery), ElementsAre(1, 0, std::cos(1.0), std::sin(1.0)));
}

// Head h of a projection is rows h D .. h D + D-1. Where wv and wo are identities, attention_out of
// one token is its normalised input.
TEST(DecoderBlock, HeadsAreBlocksOfRows) {
  const std::string line =
      "decoder_block pairing=half eps=0 kind=reglu S=1 M=4 H=2 D=2 F=1 dtype=f64 @x=1,-1,1,1 "
      "@attn_norm=1,2,3,4 @wv=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1 "
      "@wo=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(1, -2, 3, 4));
}

// Two tokens; all scores are 0. The normalised inputs are 1 and -1, and so are the values.
TEST(DecoderBlock, NoTokenAttendsToPadding) {
  const std::string line =
      "decoder_block pairing=half eps=0 S=2 M=1 H=1 D=2 F=1 dtype=f64 @x=3,-3 @attn_norm=1 @wk=0,0 "
      "@wv=1,0 @wo=1,0 ";
  EXPECT_THAT(DoublesOf(line + "mask=none", kAttentionOut), ElementsAre(0, 0));
  EXPECT_THAT(DoublesOf(line + "mask=none key_length=[1]", kAttentionOut), ElementsAre(1, 1));
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(1, 0));
  EXPECT_THAT(DoublesOf(line + "key_length=[1]", kAttentionOut), ElementsAre(1, 1));
}

// The window of the second token contains only itself, and it is padding.
TEST(DecoderBlock, EmptyRowsDecidesTheOutputOfATokenThatAttendsToNothing) {
  const std::string line =
      "decoder_block pairing=half eps=0.5 window=[0,0] key_length=[1] S=2 M=1 H=1 D=2 F=1 "
      "dtype=f64 @x=3,-3 @down=0 ";
  const std::vector<double> zero = DoublesOf(line + "empty_rows=zero");
  EXPECT_THAT(DoublesOf(line + "empty_rows=zero", kAttentionOut)[1], 0);
  EXPECT_EQ(zero[1], -3);
  const std::vector<double> unspecified = DoublesOf(line);
  EXPECT_EQ(unspecified[0], zero[0]);
  EXPECT_TRUE(std::isnan(unspecified[1]));
}

TEST(DecoderBlock, RefusesInvalidKeyLengthAndAttributesThatItLacks) {
  const std::string line = "decoder_block pairing=half S=2 M=2 H=1 D=2 F=1 ";
  EXPECT_THAT(
      [&] { Case::Parse(line + "key_length=[3]"); },
      testing::ThrowsMessage<Error>("key_length has 3, expected 0 to 2, the number of keys"));
  EXPECT_THAT([&] { Case::Parse(line + "key_length=[1,2]"); },
              testing::ThrowsMessage<Error>("key_length has 2 numbers, expected 1"));
  EXPECT_THROW(Case::Parse(line + "align=top_left"), Error);
}

TEST(DecoderBlock, HasTheNormsThatItsAttributesRead) {
  const auto has = [](const std::string& words, const char* norm) {
    const Case c = Case::Parse("decoder_block pairing=half " + words + " S=1 M=2 H=1 D=2 F=1");
    return FindTensor(c.signature(), norm) != nullptr;
  };
  for (const char* norm : {"q_norm", "k_norm"}) {
    EXPECT_FALSE(has("placement=sandwich", norm));
    EXPECT_TRUE(has("qk_norm=head", norm));
    EXPECT_TRUE(has("qk_norm=full", norm));
  }
  for (const char* norm : {"attn_post_norm", "mlp_post_norm"}) {
    EXPECT_FALSE(has("qk_norm=full placement=branch", norm));
    EXPECT_TRUE(has("placement=sandwich", norm));
  }
}

// The formula of a block uses all threads of its case.
TEST(DecoderBlock, DoesNotDependOnTheNumberOfThreads) {
  for (const char* dtype : {"bf16", "f32"}) {
    const std::string line = "decoder_block pairing=half S=5 M=24 H=6 K=3 D=4 F=40 dtype=";
    const Case c = Case::Parse(line + dtype);
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe("native", c.dtype());
    const auto on = [&](int threads) {
      return ProveAndPermit({c, inputs, recipe}, {.threads = threads});
    };
    const ProvenAndPermitted alone = on(1), together = on(4);
    for (size_t o = 0; o < alone.golden.size(); ++o) {
      const GoldenTensor &a = alone.golden[o], &b = together.golden[o];
      EXPECT_EQ(a.value.data, b.value.data);
      EXPECT_EQ(a.high.data, b.high.data);
      EXPECT_EQ(a.low.data, b.low.data);
      EXPECT_EQ(a.radius.data, b.radius.data);
      EXPECT_EQ(a.permitted.data, b.permitted.data);
      EXPECT_EQ(alone.permitted[o].likely.data, together.permitted[o].likely.data);
      EXPECT_EQ(alone.permitted[o].vacuous, together.permitted[o].vacuous);
    }
  }
}

// One token, two query heads and one key head, each of width 2.
//   x = (1,7), root mean square 5: the input of wq and wk is (1/5,7/5)
//   queries (1,7) and (7,49), key (1,7)
const std::string kTwoHeads =
    "decoder_block pairing=half eps=0 S=1 M=2 H=2 K=1 D=2 F=1 dtype=f64 @x=1,7 "
    "@attn_norm=1,1 @wq=5,0,0,5,35,0,0,35 @wk=5,0,0,5 ";
const std::string kQkNorms = "@q_norm=1,2,3,4 @k_norm=10,5 ";

TEST(DecoderBlock, DoesNotNormaliseQueriesAndKeysWithoutQkNorm) {
  EXPECT_THAT(DoublesOf(kTwoHeads + "@position=0", kQuery), ElementsAre(1, 7, 7, 49));
  EXPECT_THAT(DoublesOf(kTwoHeads + "@position=0", kKey), ElementsAre(1, 7));
}

// Root mean squares 5 and 35: both heads become (1/5,7/5), times the head's own weights.
TEST(DecoderBlock, QkNormHeadNormalisesEachHead) {
  const std::string line = kTwoHeads + kQkNorms + "qk_norm=head @position=0";
  EXPECT_THAT(DoublesOf(line, kQuery), ElementsAre(0.2, 2.8, 0.6, 5.6));
  EXPECT_THAT(DoublesOf(line, kKey), ElementsAre(2, 7));
}

// (1 + 49 + 49 + 2401) / 4 = 625: the root mean square of both heads together is 25.
TEST(DecoderBlock, QkNormFullNormalisesAllHeadsTogether) {
  const std::string line = kTwoHeads + kQkNorms + "qk_norm=full @position=0";
  EXPECT_THAT(DoublesOf(line, kQuery), ElementsAre(0.04, 0.56, 0.84, 7.84));
  EXPECT_THAT(DoublesOf(line, kKey), ElementsAre(2, 7));
}

// The normalised key (2,7) is rotated by one radian.
TEST(DecoderBlock, RotatesAfterNormalising) {
  const std::vector<double> key =
      DoublesOf(kTwoHeads + kQkNorms + "qk_norm=head @position=1", kKey);
  EXPECT_NEAR(key[0], 2 * std::cos(1.0) - 7 * std::sin(1.0), 0x1p-48);
  EXPECT_NEAR(key[1], 2 * std::sin(1.0) + 7 * std::cos(1.0), 0x1p-48);
}

// eps is 12.5, so (3,4), (4,3) and (-3,4) are all divided by sqrt(12.5 + 12.5) = 5.
//   input of attention (0.6,0.8), v = (0.8,0.6), attention_out = 5 v = (4,3)
//   middle = (3,4) + (4,3) / 5 * (-7.5,0) = (-3,4)
//   input of the feed-forward (-0.6,0.8): hidden = (1.25 * 0.8)^2 = 1, times down: (3,4)
//   y = (-3,4) + (3,4) / 5 * (5,10) = (0,12)
TEST(DecoderBlock, SandwichNormalisesTheOutputsOfBothBranches) {
  const std::string line =
      "decoder_block pairing=half placement=sandwich kind=reglu eps=12.5 S=1 M=2 H=1 D=2 "
      "F=1 dtype=f64 @x=3,4 @attn_norm=1,1 @wv=0,1,1,0 @wo=5,0,0,5 @attn_post_norm=-7.5,0 "
      "@mlp_norm=1,1 @gate=0,1.25 @up=0,1.25 @down=3,4 @mlp_post_norm=5,10 @position=9";
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(4, 3));
  EXPECT_THAT(DoublesOf(line, kMiddle), ElementsAre(-3, 4));
  EXPECT_THAT(DoublesOf(line, kHidden), ElementsAre(1));
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(0, 12));
}

}  // namespace
}  // namespace sextant
