#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

std::vector<double> SlopesOf(const std::string& words) {
  const Case c = Case::Parse("alibi_slopes " + words);
  EXPECT_EQ(KernelOf("alibi_slopes").declines(c), "");
  return AnswerOf(c, {})[0].values.data;
}

// IEEE 754 requires that sqrt of a power of two is correctly rounded.
TEST(AlibiSlopes, AreCorrectlyRounded) {
  const std::vector<double> f64 = SlopesOf("H=12 dtype=f64"), f32 = SlopesOf("H=12 dtype=bf16");
  for (size_t h = 0; h < 12; ++h) {
    const double exact = h < 8 ? std::ldexp(1, -static_cast<int>(h) - 1)
                               : std::sqrt(std::ldexp(1, -2 * static_cast<int>(h - 8) - 1));
    EXPECT_EQ(f64[h], exact) << h;
    EXPECT_EQ(f32[h], static_cast<float>(exact)) << h;
  }
}

TEST(AlibiSlopes, LargestBiasIsAtMost900) {
  EXPECT_EQ(SlopesOf("H=2 max_bias=7.5 dtype=f64")[1], std::sqrt(0x1p-15));
  EXPECT_EQ(SlopesOf("H=1 max_bias=900 dtype=f64")[0], 0x1p-900);
  EXPECT_NE(KernelOf("alibi_slopes").declines(Case::Parse("alibi_slopes H=1 max_bias=901")), "");
}

}  // namespace
}  // namespace sextant::fast
