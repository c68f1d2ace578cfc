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

TEST(RopeFrequencies, FallGeometrically) {
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

// How many frequencies Llama 3.1 keeps, blends and divides.
void ExpectBands(int rotary_width, int kept, int blended, int divided) {
  const std::string line = "rope_frequencies base=500000 R=" + std::to_string(rotary_width);
  const auto f = DoublesOf(line), scaled = DoublesOf(line + " scaling=llama3(factor=8)");
  int keep = 0, blend = 0, divide = 0;
  for (size_t k = 0; k < f.size(); ++k) {
    keep += scaled[k] == f[k];
    divide += scaled[k] == f[k] / 8;
    blend += scaled[k] < f[k] && scaled[k] > f[k] / 8;
  }
  EXPECT_EQ(keep, kept);
  EXPECT_EQ(blend, blended);
  EXPECT_EQ(divide, divided);
}

// The counts at the settings of Llama 3.1 8B (head width 128) and Llama 3.2 1B (64).
TEST(RopeFrequencies, Llama3HasThreeBands) {
  ExpectBands(128, 29, 6, 29);
  ExpectBands(64, 15, 3, 14);
}

// One frequency, 1, whose wavelength is 2 pi; L = 5 pi (nearly) makes 2.5 turns: m = 1/2.
TEST(RopeFrequencies, Llama3BlendsByTurns) {
  const double two_and_a_half_turns = 5 * std::acos(-1.0);
  const auto f = DoublesOf("rope_frequencies R=2 scaling=llama3(original_max_position_embeddings=" +
                           PrintValue(two_and_a_half_turns) + ")");
  EXPECT_NEAR(f[0], 0.5 / 8 + 0.5, 0x1p-50);
}

// Less than one turn divides, more than four turns keep.
TEST(RopeFrequencies, Llama3BordersAreInTurns) {
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
