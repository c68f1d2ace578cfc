// Cases that are too large for level 3: what level 2 leaves undecided is enclosed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

// Every number of `normed` is 2 / sqrt(4 + 12) (1 + 2^-8), halfway between two numbers of bf16. Its
// enclosure by level 2 has both sides of the tie.
std::string Ties(size_t M, size_t F) {
  std::string x = "2", weight = "1.00390625";
  for (size_t i = 1; i < M; ++i) {
    x += ",2";
    weight += ",1.00390625";
  }
  return "decoder_block pairing=half S=1 H=1 D=2 eps=12 dtype=bf16 M=" + std::to_string(M) +
         " F=" + std::to_string(F) + " @x=" + x + " @attn_norm=" + weight;
}
const GoldenTensor& Normed(const std::vector<GoldenTensor>& golden) {
  return *std::ranges::find(golden, "normed", &GoldenTensor::name);
}

TEST(LargeCases, WhatLevelTwoDoesNotDecideIsEnclosed) {
  const auto golden = ProofOf(Ties(1024, 1400)).golden;
  const GoldenTensor& normed = Normed(golden);
  for (size_t i = 0; i < normed.radius.data.size(); ++i) {
    ASSERT_GT(normed.radius.data[i], 0);
    ASSERT_LT(normed.radius.data[i], 0x1p-90);
    ASSERT_EQ(normed.high.data[i], 0.501953125);
    ASSERT_EQ(normed.low.data[i], 0);
  }
}

TEST(LargeCases, LevelThreeDecidesTheSameNumbersOfASmallCase) {
  const auto golden = ProofOf(Ties(8, 4)).golden;
  const GoldenTensor& normed = Normed(golden);
  EXPECT_EQ(normed.radius.data, std::vector<double>(8, 0));
  EXPECT_EQ(normed.value.data, std::vector<double>(8, 0.5));
}

}  // namespace
}  // namespace sextant
