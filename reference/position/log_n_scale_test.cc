#include "reference/position/log_n_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kContext = "log_n_scale original_max_position_embeddings=";

TEST(LogNScale, IsTheIdentityInsideTheContext) {
  const Proof proof = ProofOf(kContext + "16 H=2 D=3 dtype=f64 @position=-5,-1,0,14,15");
  EXPECT_EQ(proof.golden[0].value.data, proof.inputs[0].values.data);
  EXPECT_THAT(proof.golden[0].permitted.data, testing::Each(0));
}

// Position + 1 is 4^3, 4^4 and 4^6, the context 16 is 4^2: the factors are 3/2, 4/2 and 6/2.
TEST(LogNScale, IsExactWhereTheLogarithmIsRational) {
  const Proof proof = ProofOf(kContext + "16 H=1 D=1 dtype=f64 @position=63,255,4095 @q=6");
  EXPECT_THAT(proof.golden[0].high.data, ElementsAre(9, 12, 18));
  EXPECT_THAT(proof.golden[0].low.data, ElementsAre(0, 0, 0));
  EXPECT_THAT(proof.golden[0].radius.data, ElementsAre(0, 0, 0));
  const Proof thirds = ProofOf(kContext + "1000 H=1 D=1 dtype=f64 @position=9999 @q=6");
  EXPECT_THAT(thirds.golden[0].high.data, ElementsAre(8));  // ln 10^4 / ln 10^3 = 4/3
  EXPECT_THAT(thirds.golden[0].radius.data, ElementsAre(0));
}

// 129/128 * 3/2 = 387/256 is the midpoint of two bf16 numbers: no interval around it decides the
// rounding.
TEST(LogNScale, RoundsTiesOfRationalFactorsToEven) {
  const GoldenTensor y =
      ProofOf(kContext + "16 H=1 D=1 dtype=bf16 @position=63 @q=0x1.02p+0").golden[0];
  EXPECT_EQ(y.value.data[0], 388. / 256);
  EXPECT_EQ(y.radius.data[0], 0);
}

TEST(LogNScale, MultipliesByTheQuotientOfLogarithms) {
  EXPECT_THAT(DoublesOf(kContext + "2048 H=1 D=1 dtype=f64 @position=2048,99999 @q=1"),
              ElementsAre(DoubleEq(std::log(2049) / std::log(2048)),
                          DoubleEq(std::log(100000) / std::log(2048))));
}

TEST(LogNScale, RefusesContextsOutOfRange) {
  for (const std::string context : {"1", "0", "-8", "9007199254740993"}) {
    EXPECT_THAT(MessageOf([&] { Case::Parse(kContext + context + " H=1 S=1 D=1"); }),
                HasSubstr("original_max_position_embeddings is " + context));
  }
}

}  // namespace
}  // namespace sextant
