#include "reference/attention/rope_quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// At position 0 nothing rotates; each head of each token has its scale.
TEST(RopeQuantize, AScaleForEachHeadAndToken) {
  const Case c = Case::Parse(
      "rope_quantize pairing=half H=2 S=2 D=2 dtype.codes=i8 @position=0,0 "
      "@x=127,1,254,4,-508,8,63.5,-1");
  const auto y = Prove({c, DrawInputs(c), ParseRecipe("native", DType::kF32)});
  EXPECT_THAT(y[0].value.data, ElementsAre(1, 2, 4, 0.5));
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 1, 127, 2, -127, 2, 127, -2));
}

// (1, 0) turned by 1 is (cos 1, sin 1) = (0.54, 0.84): the second number is the largest.
TEST(RopeQuantize, TheScaleIsThatOfTheRotatedNumbers) {
  const Case c = Case::Parse(
      "rope_quantize pairing=half H=1 S=1 D=2 dtype=f64 dtype.codes=i8 @position=1 @x=1,0");
  const auto y = Prove({c, DrawInputs(c), ParseRecipe("native", DType::kF64)});
  EXPECT_DOUBLE_EQ(y[0].value.data[0], std::sin(1) / 127);
  EXPECT_THAT(y[1].value.data, ElementsAre(82, 127));
}

}  // namespace
}  // namespace sextant
