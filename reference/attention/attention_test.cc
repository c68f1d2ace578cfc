#include "reference/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/attention/attention_rows.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;

const std::string kOne = "attention H=1 D=1 E=1 ";  // one head of one channel

// Scores 0 and ln 3 (up to 2^-54): weights 1/4 and 3/4.
TEST(Attention, WeightsValuesBySoftmax) {
  const std::string line = kOne + "dtype=f64 S=1 T=2 @q=1 @k=0,1.0986122886681098 @v=4,8";
  EXPECT_NEAR(DoublesOf(line)[0], 7, 1e-15);
  EXPECT_NEAR(DoublesOf(line, 1)[0], std::log(4), 1e-15);
}

// q.k = 4; D^-1/2 = 1/2. With one key, lse is its score.
TEST(Attention, DefaultScaleIsTheInverseRootOfTheWidth) {
  const std::string line = "attention H=1 S=1 T=1 D=4 @q=1,1,1,1 @k=1,1,1,1 ";
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(2));
  EXPECT_THAT(DoublesOf(line + "scale=3", 1), ElementsAre(12));
}

TEST(Attention, CapsScoresAfterScaling) {
  const std::string line = kOne + "dtype=f64 scale=0.5 soft_cap=3 S=1 @q=2 @k=5 @v=1";
  EXPECT_NEAR(DoublesOf(line, 1)[0], 3 * std::tanh(5. / 3), 1e-15);
}

// Covers both a division by the cap and a multiplication by its rounded reciprocal.
TEST(Attention, CapHasThePermittedErrorOfSoftCap) {
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  AttentionAttributes op;
  op.scale = 1;
  op.soft_cap = 50;
  const ScoreFunction<Counted> score(op, 1);
  const SoftCapFunction<Counted> capped(50);
  for (const double x : {0.25, -7.0, 120.0}) {
    const Counted product(x, DType::kF32);
    EXPECT_EQ(score(product).Permitted(), capped(product).Permitted());
  }
}

// A score that may overflow may be NaN, and the cap of NaN is NaN.
TEST(Attention, CapDoesNotLimitTheErrorOfAnOverflow) {
  const auto proof = ProofOf(kOne + "scale=1 soft_cap=50 S=1 T=2 @q=0x1p100 @k=0x1p100,1 @v=1,2");
  EXPECT_THAT(proof.golden[1].permitted.data, ElementsAre(INFINITY));
}

// Each query has one visible key: y is exactly its value for every score, and no error is
// permitted.
TEST(Attention, OneVisibleKeyGivesItsValue) {
  const auto proof = ProofOf("attention H=1 D=1 E=2 S=3 T=3 window=[0,0] @v=1,2,3,4,5,6");
  EXPECT_THAT(proof.golden[0].high.data, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(proof.golden[0].permitted.data, Each(0));
  EXPECT_THAT(proof.golden[0].radius.data, Each(0));
}

// Heads 0 and 1 read key head 0, heads 2 and 3 key head 1.
TEST(Attention, NeighbouringHeadsShareKeys) {
  EXPECT_THAT(DoublesOf("attention H=4 K=2 S=1 T=1 D=1 E=1 @v=5,7"), ElementsAre(5, 5, 7, 7));
  EXPECT_THAT(DoublesOf("attention B=2 H=2 K=1 S=1 T=1 D=1 E=1 @v=5,7"), ElementsAre(5, 5, 7, 7));
}

// Equal scores: y is the mean of the visible values, lse the logarithm of their number.
TEST(Attention, MaskedKeysHaveNoWeight) {
  const std::string line = kOne + "mask=causal S=2 T=4 dtype=f64 @q=0 @v=3,9,12,24";
  EXPECT_THAT(DoublesOf(line), ElementsAre(8, 12));
  EXPECT_THAT(DoublesOf(line + " align=top_left"), ElementsAre(3, 6));
  EXPECT_NEAR(DoublesOf(line, 1)[0], std::log(3), 1e-15);
  EXPECT_THAT(DoublesOf(line + " key_length=[3]"), ElementsAre(6, 8));
}

TEST(Attention, EmptyRowsAreZeroOnlyIfTheCaseSaysSo) {
  const std::string line = kOne + "mask=causal S=3 T=1 @v=4";
  EXPECT_THAT(DoublesOf(line), ElementsAre(IsNan(), IsNan(), 4));
  const auto proof = ProofOf(line + " empty_rows=zero");
  EXPECT_THAT(proof.golden[0].value.data, ElementsAre(0, 0, 4));
  EXPECT_EQ(proof.golden[1].value.data[0], -INFINITY);
  EXPECT_EQ(proof.golden[1].high.data[0], -INFINITY);
  EXPECT_THAT(proof.golden[1].permitted.data, ElementsAre(0, 0, testing::Ge(0)));
}

// NaN in a masked key and its value does not change the result.
TEST(Attention, DoesNotReadMaskedKeys) {
  const Case c = Case::Parse(kOne + "mask=causal align=top_left S=2 T=3 @q=0 @k=1 @v=4,6,8");
  Tensors inputs = DrawInputs(c);
  inputs[1].values.data[2] = inputs[2].values.data[2] = NAN;
  EXPECT_THAT(Prove({c, inputs, ParseRecipe("native", c.dtype())})[0].high.data, ElementsAre(4, 5));
}

// The case is evaluated in slices; the mask of a slice uses the indices of the whole case.
TEST(Attention, SlicesUseTheMaskOfTheWholeCase) {
  const std::string line =
      "attention B=2 H=2 K=1 D=1 E=72 mask=causal S=240 T=241 window=[1,0] "
      "key_length=[240,241] @q=0 @v=uniform";
  const Proof proof = ProofOf(line);
  const auto& v = proof.inputs[2].values;
  for (const size_t b : {0, 1}) {
    for (const size_t h : {0, 1}) {
      for (const size_t s : {1, 119, 120, 239}) {
        const size_t i = s + b;  // the query's own key
        EXPECT_EQ(proof.golden[0].high(b, h, s, 71), (v(b, 0, i - 1, 71) + v(b, 0, i, 71)) / 2);
      }
    }
  }
}

// With D = 0 all scores are 0 for every scale, but the default scale D^-1/2 is undefined.
TEST(Attention, WidthZeroNeedsAScale) {
  const std::string line = "attention H=1 D=0 E=1 T=2 @v=3,5 ";
  EXPECT_THAT(DoublesOf(line + "S=1 scale=1"), ElementsAre(4));
  EXPECT_THAT(DoublesOf(line + "S=0"), testing::IsEmpty());
  EXPECT_THAT([&] { DoublesOf(line + "S=1"); },
              testing::ThrowsMessage<Error>(HasSubstr(
                  "dimension D is 0, expected 1 or more where scale= is unset (D^-1/2)")));
}

TEST(Attention, RefusesInvalidHeadCountsAndCaps) {
  try {
    Case::Parse("attention H=4 K=3 S=1 D=1");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("dimension K is 3, expected a divisor of H, which is 4"));
  }
  EXPECT_THROW(Case::Parse("attention H=1 S=1 D=1 soft_cap=0"), Error);
}

}  // namespace
}  // namespace sextant
