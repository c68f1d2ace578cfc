#include "reference/block/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

constexpr size_t kLogits = 0, kStates = 1;

// One token of width 2, one head. eps is 12.5, so (3,4), (-3,4) and (-3,-4) are all divided by
// sqrt(12.5 + 12.5) = 5.
//   states[0] = 2 (1.5,2) = (3,4)
//   block 0: v = (0.8,0.6), wo v = (-6,0); its gate is 0: states[1] = (-3,4)
//   block 1: v = (-0.6,0.8), wo v = (0,-8), middle = (-3,-4); input of the feed-forward
//            (-0.6,-0.8): hidden = (1.25 * 0.8)^2 = 1, times down (6,8): states[2] = (3,4)
//   last norm: (0.6,0.8) * (5,10) = (3,8); head: 3, 8 and 3 - 8
const std::string kToken =
    "decoder pairing=half kind=reglu eps=12.5 embedding_scale=2 V=3 L=2 S=1 M=2 H=1 D=2 F=1 "
    "dtype=f64 @token=1 @position=9 @table=7,7,1.5,2,7,7 @attn_norm=1,1,1,1 "
    "@wv=0,1,1,0,1,0,0,1 @wo=-7.5,0,0,0,0,0,0,-10 @mlp_norm=1,1,1,1 @gate=0,0,0,-1.25 "
    "@up=1,1,0,-1.25 @down=1,1,6,8 @last_norm=5,10 @head=1,0,0,1,1,-1 ";

TEST(Decoder, StatesAreTheEmbeddingAndTheOutputOfEachBlock) {
  EXPECT_THAT(DoublesOf(kToken, kStates), ElementsAre(3, 4, -3, 4, 3, 4));
}

TEST(Decoder, LogitsAreTheHeadTimesTheNormalisedLastState) {
  EXPECT_THAT(DoublesOf(kToken, kLogits), ElementsAre(3, 8, -5));
}

TEST(Decoder, LogitCapAppliesTanhToLogits) {
  const std::vector<double> logits = DoublesOf(kToken + "logit_cap=2", kLogits);
  ASSERT_EQ(logits.size(), 3u);
  EXPECT_NEAR(logits[0], 2 * std::tanh(1.5), 0x1p-51);
  EXPECT_NEAR(logits[1], 2 * std::tanh(4.0), 0x1p-51);
  EXPECT_NEAR(logits[2], 2 * std::tanh(-2.5), 0x1p-51);
}

// A different padding token does not change the logits of the tokens before it.
TEST(Decoder, NoTokenAttendsToPadding) {
  const std::string line =
      "decoder pairing=half mask=none key_length=[2] V=4 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=f64 ";
  const std::vector<double> a = DoublesOf(line + "@token=0,1,2"),
                            b = DoublesOf(line + "@token=0,1,3");
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(a[i], b[i]);
  EXPECT_NE(a[8], b[8]);
}

// Two blocks with different weights: states[l + 1] is decoder_block of states[l] with weights l.
TEST(Decoder, RunsItsBlocksInOrder) {
  const Proof whole = ProofOf("decoder pairing=half V=5 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=f64");
  // Part l of `count` equal parts of `values`, as text.
  const auto part = [](const std::vector<double>& values, size_t l, size_t count) {
    const size_t size = values.size() / count;
    std::string text;
    for (size_t i = l * size; i < (l + 1) * size; ++i)
      text += (text.empty() ? "" : ",") + PrintValue(values[i]);
    return text;
  };
  const std::vector<double>& states = whole.golden[kStates].high.data;
  for (const size_t l : {0, 1}) {
    std::string line = "decoder_block pairing=half S=3 M=4 H=2 K=1 D=4 F=3 dtype=f64 @x=";
    line += part(states, l, 3);
    for (const char* name : {"attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "gate", "up", "down"})
      line += std::string(" @") + name + "=" + part(Find(whole.inputs, name).values.data, l, 2);
    const std::vector<double> y = DoublesOf(line);
    ASSERT_EQ(y.size(), 12u);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], states[12 * (l + 1) + i], 0x1p-44);
  }
}

TEST(Decoder, RefusesSandwichWhichNeedsMoreNorms) {
  EXPECT_THAT(
      [] { Case::Parse("decoder pairing=half placement=sandwich V=1 L=1 S=1 M=2 H=1 D=2 F=1"); },
      testing::ThrowsMessage<Error>(
          testing::HasSubstr("placement: 'sandwich' is not one of: pre branch parallel")));
}

}  // namespace
}  // namespace sextant
