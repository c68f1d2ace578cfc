#include "reference/attention/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

TEST(Softmax, EqualElementsHaveEqualWeights) {
  EXPECT_THAT(DoublesOf("softmax N=1 M=5 @x=3,3,3,3,3"), Each(0.2));
  EXPECT_THAT(ValuesOf("softmax N=1 M=1 @x=-1000"), ElementsAre(1));
}

// 1 / (1 + e) and e / (1 + e). e: OEIS A001113.
TEST(Softmax, TwoElementsAreALogisticFunction) {
  const double e = 2.718281828459045235;
  const auto y = DoublesOf("softmax N=1 M=2 @x=0,1");
  EXPECT_NEAR(y[0], 1 / (1 + e), 2e-16);
  EXPECT_NEAR(y[1], e / (1 + e), 2e-16);
}

// e^1000 overflows and e^-1000 underflows in a double; the result is right nevertheless.
TEST(Softmax, LargeElementsDoNotOverflow) {
  EXPECT_THAT(DoublesOf("softmax N=2 M=2 @x=1000,1000,-1000,-1000"), Each(0.5));
  EXPECT_THAT(ValuesOf("softmax N=1 M=3 @x=0,-1000,-1000"), ElementsAre(1, 0, 0));
}

TEST(Softmax, RowsAreIndependent) {
  EXPECT_THAT(DoublesOf("softmax N=2 M=2 @x=5,5,-7,-7"), Each(0.5));
}

// Softmax of a row that may contain infinities and NaN, which a case line cannot express.
std::vector<double> Masked(std::vector<double> x) {
  Proof proof = ProofOf("softmax N=1 M=4");
  proof.inputs[0].values.data = std::move(x);
  return Prove({proof.c, proof.inputs, ParseRecipe("native", DType::kF32)})[0].value.data;
}

TEST(Softmax, MaskedElementsHaveNoWeight) {
  EXPECT_THAT(Masked({-kInfinity, 2, -kInfinity, 2}), ElementsAre(0, 0.5, 0, 0.5));
  EXPECT_THAT(Masked({-kInfinity, -kInfinity, -kInfinity, -9}), ElementsAre(0, 0, 0, 1));
}

TEST(Softmax, IsUnspecifiedForNaNPlusInfinityAndFullyMaskedRows) {
  EXPECT_THAT(Masked({-kInfinity, -kInfinity, -kInfinity, -kInfinity}), Each(IsNan()));
  EXPECT_THAT(Masked({1, kInfinity, 2, 3}), Each(IsNan()));
  EXPECT_THAT(Masked({-kInfinity, kInfinity, -kInfinity, -kInfinity}), Each(IsNan()));
  EXPECT_THAT(Masked({1, std::nan(""), 2, 3}), Each(IsNan()));
}

// Four equal elements: the exponentials, their sum and 1/4 are exact. Three: 1/3 is rounded.
TEST(Softmax, PermitsTheRoundingOfTheQuotient) {
  EXPECT_LT(ProofOf("softmax N=1 M=4 @x=0,0,0,0").golden[0].permitted.data[0], 4 * 0x1p-24);
  EXPECT_GT(ProofOf("softmax N=1 M=3 @x=0,0,0").golden[0].permitted.data[0], 0x1p-26);
}

}  // namespace
}  // namespace sextant
