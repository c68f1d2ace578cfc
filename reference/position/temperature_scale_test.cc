#include "reference/position/temperature_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

// Llama 4 counts tokens from 1: its first step begins at position floor_scale - 1. Ministral 3
// counts from 0: its first step begins at position floor_scale.
TEST(TemperatureScale, StartDecidesWhereAStepBegins) {
  const double factor = 1 + 0.1 * std::log(2);
  EXPECT_THAT(DoublesOf("temperature_scale H=1 D=1 dtype=f64 @position=0,8190,8191,16382 @q=1"),
              ElementsAre(1, 1, DoubleEq(factor), DoubleEq(factor)));
  EXPECT_THAT(DoublesOf("temperature_scale start=0 floor_scale=16384 H=1 D=1 dtype=f64 "
                        "@position=16383,16384 @q=1"),
              ElementsAre(1, DoubleEq(factor)));
}

TEST(TemperatureScale, MultipliesByOnePlusBetaTimesTheLogarithm) {
  EXPECT_THAT(DoublesOf("temperature_scale beta=0.5 floor_scale=10 start=0 H=1 D=2 dtype=f64 "
                        "@position=70 @q=2,-4"),
              ElementsAre(DoubleEq(2 + std::log(8)), DoubleEq(-4 - 2 * std::log(8))));
}

TEST(TemperatureScale, PermitsNoErrorBeforeTheFirstStep) {
  const Proof proof = ProofOf("temperature_scale H=2 D=3 dtype=bf16 @position=0,5,8190");
  EXPECT_EQ(proof.golden[0].value.data, proof.inputs[0].values.data);
  EXPECT_THAT(proof.golden[0].permitted.data, Each(0));
}

TEST(TemperatureScale, IsUnspecifiedBeforeTheStart) {
  const auto y =
      DoublesOf("temperature_scale floor_scale=4 H=1 D=1 dtype=f64 @position=-1,-2,-6 @q=1");
  EXPECT_EQ(y[0], 1);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_TRUE(std::isnan(y[2]));
}

// f32 rounds 2^25 - 1 to 2^25, which is one step too many.
TEST(TemperatureScale, ComputesStepsInIntegers) {
  TemperatureScale op;
  op.start = 0;
  EXPECT_EQ(op.Steps(0x1p25 - 1), 4095);
  EXPECT_EQ(op.Steps(0x1p25), 4096);
  EXPECT_EQ(op.Steps(-1), -1);
  EXPECT_EQ(op.Steps(-8192), -1);
  EXPECT_EQ(op.Steps(-8193), -2);
}

TEST(TemperatureScale, RefusesAttributesOutOfRange) {
  EXPECT_THROW(Case::Parse("temperature_scale floor_scale=0 H=1 S=1 D=1"), Error);
  EXPECT_THROW(Case::Parse("temperature_scale start=2 H=1 S=1 D=1"), Error);
}

}  // namespace
}  // namespace sextant
