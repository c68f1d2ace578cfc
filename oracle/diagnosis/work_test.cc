#include "oracle/diagnosis/work.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

// x and y have 64 elements each, and there are 4 positions: one slice.
TEST(Work, IsThatOfInputsAndOutputs) {
  EXPECT_EQ(WorkOf(Case::Parse("rope pairing=half H=2 S=4 D=8")), 64u + 64 + 4);
}

// A slice is half a row of y: it reads a row of x and half of the weight. There are 8 slices.
TEST(Work, CountsAnInputForEverySliceThatReadsIt) {
  const Case c = Case::Parse("linear N=4 M=100 F=256");
  EXPECT_EQ(WorkOf(c), 8u * (100 + 128 * 100 + 128));
  EXPECT_EQ(WorkOf(c, {}), 4u * 100 + 256 * 100 + 4 * 256);
}

// A composite operation cannot be cut: each of its 128 rows reads all weights.
TEST(Work, OfACompositeOperationIsThatOfItsProducts) {
  const Case c = Case::Parse("cross_attention S=128 T=128 M=256 H=4 K=4 D=64");
  const size_t numbers = 2 * 128 * 256 + 4 * (256 * 256 + 256);
  EXPECT_EQ(WorkOf(c), 128 * numbers);
  EXPECT_LT(MostWork(c), 16 * WorkOf(c));  // too much for searches of many hypotheses
}

TEST(Work, MeasurementsOfLargeAnswersAreFew) {
  EXPECT_EQ(MostMeasurements(Case::Parse("softmax N=8 M=64")), (1u << 18) / (2 * 8 * 64));
  EXPECT_EQ(MostMeasurements(Case::Parse("softmax N=1024 M=4096")), 1u);
}

TEST(Work, IsLimitedToAPartOfLongSums) {
  const Case small = Case::Parse("linear N=4 M=100 F=256");
  EXPECT_GT(ElementsInWork(small, MostWork(small)), 4u * 256);
  EXPECT_EQ(ElementsInWork(small, WorkOf(small) / 4), 256u);
  const Case rope = Case::Parse("rope pairing=half H=32 S=65536 D=128");
  EXPECT_GT(MostWork(rope), WorkOf(rope));
  const Case large = Case::Parse("linear N=1024 M=4096 F=4096");
  EXPECT_LT(MostWork(large), WorkOf(large) / 8);
}

}  // namespace
}  // namespace sextant::oracle
