#include "reference/block/decoder_block_normed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/block/decoder_outputs_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// One token, two query heads and one key head, each of width 2.
//   x = (1,7), root mean square 5: the input of wq and wk is (1/5,7/5)
//   queries (1,7) and (7,49), key (1,7)
const std::string kTwoHeads =
    "decoder_block_normed pairing=half eps=0 S=1 M=2 H=2 K=1 D=2 F=1 dtype=f64 @x=1,7 "
    "@attn_norm=1,1 @wq=5,0,0,5,35,0,0,35 @wk=5,0,0,5 @q_norm=1,2,3,4 @k_norm=10,5 ";

TEST(DecoderBlockNormed, QkNormNoneDoesNotNormaliseQueriesAndKeys) {
  EXPECT_THAT(DoublesOf(kTwoHeads + "@position=0", kQuery), ElementsAre(1, 7, 7, 49));
  EXPECT_THAT(DoublesOf(kTwoHeads + "@position=0", kKey), ElementsAre(1, 7));
}

// Root mean squares 5 and 35: both heads become (1/5,7/5), times the head's own weights.
TEST(DecoderBlockNormed, QkNormHeadNormalisesEachHead) {
  const std::string line = kTwoHeads + "qk_norm=head @position=0";
  EXPECT_THAT(DoublesOf(line, kQuery), ElementsAre(0.2, 2.8, 0.6, 5.6));
  EXPECT_THAT(DoublesOf(line, kKey), ElementsAre(2, 7));
}

// (1 + 49 + 49 + 2401) / 4 = 625: the root mean square of both heads together is 25.
TEST(DecoderBlockNormed, QkNormFullNormalisesAllHeadsTogether) {
  const std::string line = kTwoHeads + "qk_norm=full @position=0";
  EXPECT_THAT(DoublesOf(line, kQuery), ElementsAre(0.04, 0.56, 0.84, 7.84));
  EXPECT_THAT(DoublesOf(line, kKey), ElementsAre(2, 7));
}

// The normalised key (2,7) is rotated by one radian.
TEST(DecoderBlockNormed, RotatesAfterNormalising) {
  const std::vector<double> key = DoublesOf(kTwoHeads + "qk_norm=head @position=1", kKey);
  EXPECT_NEAR(key[0], 2 * std::cos(1.0) - 7 * std::sin(1.0), 0x1p-48);
  EXPECT_NEAR(key[1], 2 * std::sin(1.0) + 7 * std::cos(1.0), 0x1p-48);
}

// eps is 12.5, so (3,4), (4,3) and (-3,4) are all divided by sqrt(12.5 + 12.5) = 5.
//   input of attention (0.6,0.8), v = (0.8,0.6), attention_out = 5 v = (4,3)
//   middle = (3,4) + (4,3) / 5 * (-7.5,0) = (-3,4)
//   input of the feed-forward (-0.6,0.8): hidden = (1.25 * 0.8)^2 = 1, times down: (3,4)
//   y = (-3,4) + (3,4) / 5 * (5,10) = (0,12)
TEST(DecoderBlockNormed, SandwichNormalisesTheOutputsOfBothBranches) {
  const std::string line =
      "decoder_block_normed pairing=half placement=sandwich kind=reglu eps=12.5 S=1 M=2 H=1 D=2 "
      "F=1 dtype=f64 @x=3,4 @attn_norm=1,1 @wv=0,1,1,0 @wo=5,0,0,5 @attn_post_norm=-7.5,0 "
      "@mlp_norm=1,1 @gate=0,1.25 @up=0,1.25 @down=3,4 @mlp_post_norm=5,10 @position=9";
  EXPECT_THAT(DoublesOf(line, kAttentionOut), ElementsAre(4, 3));
  EXPECT_THAT(DoublesOf(line, kMiddle), ElementsAre(-3, 4));
  EXPECT_THAT(DoublesOf(line, kHidden), ElementsAre(1));
  EXPECT_THAT(DoublesOf(line, kY), ElementsAre(0, 12));
}

}  // namespace
}  // namespace sextant
