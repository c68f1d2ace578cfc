#include "reference/rope/rope_cos_sin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// base 16 and R = 4: the frequencies are 1 and 1/4.
TEST(RopeCosSin, LayoutsRepeatTheColumnsOfThePairs) {
  const std::string line = "rope_cos_sin base=16 R=4 @position=1,-8 layout=";
  const double a = std::cos(1), b = std::cos(0.25), c = std::cos(8), d = std::cos(2);
  EXPECT_THAT(DoublesOf(line + "half_width"), ElementsAre(a, b, c, d));
  EXPECT_THAT(DoublesOf(line + "halves"), ElementsAre(a, b, a, b, c, d, c, d));
  EXPECT_THAT(DoublesOf(line + "interleaved"), ElementsAre(a, a, b, b, c, c, d, d));
  EXPECT_THAT(DoublesOf(line + "interleaved", 1),
              ElementsAre(std::sin(1), std::sin(1), std::sin(0.25), std::sin(0.25), -std::sin(8),
                          -std::sin(8), -std::sin(2), -std::sin(2)));
}

TEST(RopeCosSin, EachBatchHasItsOwnPositions) {
  EXPECT_THAT(DoublesOf("rope_cos_sin layout=half_width B=2 S=1 R=2 @position=0,1", 1),
              ElementsAre(0, std::sin(1)));
}

TEST(RopeCosSin, ScalingChangesFrequenciesAndAmplitude) {
  EXPECT_THAT(DoublesOf("rope_cos_sin layout=half_width R=2 scaling=linear(factor=4) @position=8"),
              ElementsAre(std::cos(2)));
  const std::string line =
      "rope_cos_sin layout=halves R=2 scaling=explicit(inv_freq=[0.5],attention_factor=2) "
      "@position=3";
  EXPECT_THAT(DoublesOf(line), ElementsAre(2 * std::cos(1.5), 2 * std::cos(1.5)));
  EXPECT_THAT(DoublesOf(line, 1), ElementsAre(2 * std::sin(1.5), 2 * std::sin(1.5)));
}

// The frequency 10000^(-1/2) is 1/100, which no binary number is. Rounded to f32, it gives at this
// position an angle that is wrong by 2^18 * 2.2e-10.
TEST(RopeCosSin, FrequenciesAreNotRounded) {
  const auto exact = DoublesOf("rope_cos_sin layout=half_width R=4 dtype=f32 @position=262144");
  const auto rounded = DoublesOf("rope_table R=4 @position=262144 @inv_freq=1,0x1.47ae14p-7");
  EXPECT_NEAR(exact[1], std::cos(2621.44), 1e-12);
  EXPECT_GT(std::abs(exact[1] - rounded[1]), 1e-5);
}

TEST(RopeCosSin, EmptyExtentsAreAllowed) {
  EXPECT_THAT(DoublesOf("rope_cos_sin layout=halves R=0 S=3"), ElementsAre());
  EXPECT_THAT(DoublesOf("rope_cos_sin layout=interleaved R=4 S=0"), ElementsAre());
}

Shape ShapeOfCos(const std::string& words) {
  const Case c = Case::Parse("rope_cos_sin S=3 R=6 " + words);
  return c.ShapeOf(c.info().signature.outputs[0]);
}

TEST(RopeCosSin, TheWidthDependsOnTheLayout) {
  EXPECT_THAT(ShapeOfCos("layout=half_width"), ElementsAre(1, 3, 3));
  EXPECT_THAT(ShapeOfCos("layout=halves"), ElementsAre(1, 3, 6));
  EXPECT_THAT(ShapeOfCos("layout=interleaved"), ElementsAre(1, 3, 6));
  EXPECT_THAT([] { Case::Parse("rope_cos_sin S=3 R=7 layout=half_width"); },
              ThrowsMessage<Error>("dimension R is 7, expected a multiple of 2"));
  EXPECT_THAT([] { Case::Parse("rope_cos_sin S=3 R=7 layout=halves"); },
              ThrowsMessage<Error>("dimension R is 7, expected a multiple of 2"));
  EXPECT_THAT(
      [] { Case::Parse("rope_cos_sin S=3 R=6"); },
      ThrowsMessage<Error>("rope_cos_sin needs layout=, one of: half_width halves interleaved"));
}

}  // namespace
}  // namespace sextant
