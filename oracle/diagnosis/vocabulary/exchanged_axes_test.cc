#include "oracle/diagnosis/vocabulary/exchanged_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(AxisPairsOf, LeavesOutAxesOfOneIndex) {
  EXPECT_THAT(AxisPairsOf({2, 1, 3, 4}), ElementsAre(Pair(0, 2), Pair(0, 3), Pair(2, 3)));
}

// [2,3,2] whose memory is [3,2,2].
TEST(ExchangedAxes, AreReadFromTheirMemory) {
  Tensor<double> x({2, 3, 2});
  x.data = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_THAT(ReadWithExchangedAxes(x, 0, 1), ElementsAre(0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11));
  EXPECT_EQ(PlaceWithExchangedAxes(x.shape, 0, 1)(2), 4);  // [0,1,0]
}

TEST(ExchangedAxes, HaveAText) {
  EXPECT_EQ(ExchangedText("y", 1, 2), "y is stored as if its axes 1 and 2 were exchanged");
}

}  // namespace
}  // namespace sextant::oracle
