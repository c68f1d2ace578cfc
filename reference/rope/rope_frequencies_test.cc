#include "reference/rope/rope_frequencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(RopeFrequencies, AreAGeometricSequence) {
  EXPECT_THAT(DoublesOf("rope_frequencies base=65536 R=8"),
              ElementsAre(1, 0x1p-4, 0x1p-8, 0x1p-12));
  EXPECT_THAT(DoublesOf("rope_frequencies base=10000 R=4"), ElementsAre(1, 0.01));
  EXPECT_THAT(DoublesOf("rope_frequencies base=65536 R=8", 1), ElementsAre(1));
}

TEST(RopeFrequencies, LinearScalingDivides) {
  EXPECT_THAT(DoublesOf("rope_frequencies base=65536 R=4 scaling=linear(factor=8)"),
              ElementsAre(0x1p-3, 0x1p-11));
  EXPECT_THAT(DoublesOf("rope_frequencies R=2 scaling=linear(factor=2.5)"), ElementsAre(0.4));
}

// Expects the given numbers of unchanged, blended and divided frequencies with llama3(factor=8).
void ExpectBands(int rotary_width, int unchanged, int blended, int divided) {
  const std::string line = "rope_frequencies base=500000 R=" + std::to_string(rotary_width);
  const auto f = DoublesOf(line), scaled = DoublesOf(line + " scaling=llama3(factor=8)");
  int high = 0, middle = 0, low = 0;
  for (size_t k = 0; k < f.size(); ++k) {
    high += scaled[k] == f[k];
    low += scaled[k] == f[k] / 8;
    middle += scaled[k] < f[k] && scaled[k] > f[k] / 8;
  }
  EXPECT_EQ(high, unchanged);
  EXPECT_EQ(middle, blended);
  EXPECT_EQ(low, divided);
}

// The bands of Llama 3.1 8B (head width 128) and Llama 3.2 1B (head width 64).
TEST(RopeFrequencies, Llama3HasThreeBands) {
  ExpectBands(128, 29, 6, 29);
  ExpectBands(64, 15, 3, 14);
}

// The only frequency is 1, its wavelength 2 pi. L = 5 pi (nearly) gives 2.5 rotations: m = 1/2.
TEST(RopeFrequencies, Llama3BlendsByRotations) {
  const double length = 5 * std::acos(-1.0);
  const auto f = DoublesOf("rope_frequencies R=2 scaling=llama3(original_max_position_embeddings=" +
                           PrintValue(length) + ")");
  EXPECT_NEAR(f[0], 0.5 / 8 + 0.5, 0x1p-50);
}

// Frequencies with less than one rotation are divided, those with more than four are unchanged.
TEST(RopeFrequencies, Llama3BandsEndAtOneAndFourRotations) {
  const auto at = [](const std::string& context) {
    return DoublesOf(
        "rope_frequencies R=2 scaling=llama3(original_max_position_embeddings=" + context + ")")[0];
  };
  EXPECT_EQ(at("6.28"), 0.125);
  EXPECT_GT(at("6.29"), 0.125);
  EXPECT_LT(at("25.13"), 1);
  EXPECT_EQ(at("25.14"), 1);
}

}  // namespace
}  // namespace sextant
