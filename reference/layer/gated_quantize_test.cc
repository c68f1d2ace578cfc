#include "reference/layer/gated_quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

auto ProvenOfGate(const std::string& line) {
  const Case c = Case::Parse(line);
  return Prove({c, DrawInputs(c), ParseRecipe("native", c.dtype())});
}

// max(gate, 0) up is 254, 0, -6; half of each is the code.
TEST(GatedQuantize, QuantizesTheProduct) {
  const auto y = ProvenOfGate(
      "gated_quantize kind=reglu N=1 G=1 M=3 dtype.codes=i8 @gate=2,-1,3 @up=127,5,-2");
  EXPECT_THAT(y[0].value.data, ElementsAre(2));
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 0, -3));
}

// Its limit is that of the gate, not of the codes: min(gate, 2) min(up, 2) + 1.
TEST(GatedQuantize, TheLimitIsOfTheInputs) {
  const auto y = ProvenOfGate(
      "gated_quantize kind=reglu limit=2 plus_one=true scale_rule=floor N=1 G=1 M=2 "
      "dtype.codes=i8 @gate=8,1 @up=5,63");
  EXPECT_THAT(y[0].value.data, ElementsAre(0x1p-4));
  EXPECT_THAT(y[1].value.data, ElementsAre(96, 48));
}

TEST(GatedQuantize, ARuleOfPowersBelongsToScalesOfPowers) {
  EXPECT_THAT(MessageOf([] { Case::Parse("gated_quantize N=1 G=1 M=1 dtype.scale=e8m0"); }),
              HasSubstr("scale_rule"));
  EXPECT_THAT(MessageOf([] { Case::Parse("gated_quantize scale_rule=one N=1 G=1 M=1"); }),
              HasSubstr("tensor_scale"));
}

}  // namespace
}  // namespace sextant
