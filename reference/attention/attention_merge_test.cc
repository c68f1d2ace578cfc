#include "reference/attention/attention_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsNan;

// e^lse1 = 1 and e^lse2 = 3, up to 2^-54.
TEST(AttentionMerge, WeightsPartsByTheirSums) {
  const std::string line =
      "attention_merge N=1 E=2 dtype=f64 @lse1=0 @y1=4,8 @lse2=1.0986122886681098 @y2=8,0";
  EXPECT_NEAR(DoublesOf(line)[0], 7, 1e-15);
  EXPECT_NEAR(DoublesOf(line)[1], 2, 1e-15);
  EXPECT_NEAR(DoublesOf(line, 1)[0], std::log(4), 1e-15);
}

TEST(AttentionMerge, PartsWithEqualLseAreAveraged) {
  EXPECT_THAT(DoublesOf("attention_merge N=2 E=1 @lse1=5,-3 @y1=1,2 @lse2=5,-3 @y2=2,8"),
              ElementsAre(1.5, 5));
}

// In row 0 the first part has no keys (its y is NaN), in row 1 the second part, in row 2 both.
TEST(AttentionMerge, IgnoresPartsWithoutKeys) {
  const double none = -std::numeric_limits<double>::infinity();
  for (const bool zero : {false, true}) {
    const Case c =
        Case::Parse(std::string("attention_merge N=3 E=1 @lse1=0,7,0 @y1=1,2,3 ") +
                    "@lse2=9,0,0 @y2=4,5,6 empty_rows=" + (zero ? "zero" : "unspecified"));
    Tensors inputs = DrawInputs(c);
    inputs[0].values.data[0] = NAN;
    inputs[1].values.data[0] = inputs[1].values.data[2] = none;
    inputs[3].values.data[1] = inputs[3].values.data[2] = none;
    const auto golden = Prove({c, inputs, ParseRecipe("native", c.dtype())});
    EXPECT_THAT(golden[0].high.data, ElementsAre(4, 2, testing::_));
    EXPECT_THAT(golden[1].high.data, ElementsAre(9, 7, testing::_));
    EXPECT_THAT(golden[0].permitted.data, ElementsAre(0, 0, testing::_));
    if (zero) {
      EXPECT_EQ(golden[0].value.data[2], 0);
      EXPECT_EQ(golden[1].value.data[2], none);
      EXPECT_EQ(golden[1].permitted.data[2], 0);
    } else {
      EXPECT_THAT(golden[0].high.data[2], IsNan());
      EXPECT_THAT(golden[1].high.data[2], IsNan());
    }
  }
}

}  // namespace
}  // namespace sextant
