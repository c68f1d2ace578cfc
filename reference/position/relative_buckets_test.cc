#include "reference/position/relative_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

// T5's own settings. 16, 32 and 64 lie exactly on borders: ln(16/8) / ln(128/8) * 8 = 2.
TEST(RelativeBuckets, BothDirectionsOfT5BeginWhereIntegerPowersSay) {
  EXPECT_THAT(RelativeBuckets(32, 128, true).starts(),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91));
}

TEST(RelativeBuckets, OneDirectionOfT5BeginsWhereIntegerPowersSay) {
  std::vector<int64_t> starts(16);
  for (int64_t d = 0; d < 16; ++d) starts[static_cast<size_t>(d)] = d;
  for (const int64_t d : {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113})
    starts.push_back(d);
  EXPECT_THAT(RelativeBuckets(32, 128, false).starts(), ElementsAreArray(starts));
}

TEST(RelativeBuckets, KeysAfterTheQueryTakeTheSecondHalf) {
  const RelativeBuckets both(32, 128, true);
  EXPECT_EQ(both.RowOf(100, 100), 0);
  EXPECT_EQ(both.RowOf(100, 99), 1);
  EXPECT_EQ(both.RowOf(100, 101), 17);
  EXPECT_EQ(both.RowOf(100, 85), 9);
  EXPECT_EQ(both.RowOf(100, 84), 10);  // distance 16
  EXPECT_EQ(both.RowOf(100, 116), 26);
  EXPECT_EQ(both.RowOf(0, 1 << 20), 31);
}

TEST(RelativeBuckets, OneDirectionKnowsNoFuture) {
  const RelativeBuckets causal(32, 128, false);
  EXPECT_EQ(causal.RowOf(5, 9), 0);
  EXPECT_EQ(causal.RowOf(20, 5), 15);
  EXPECT_EQ(causal.RowOf(120, 7), 31);
  EXPECT_EQ(causal.RowOf(int64_t{1} << 53, -(int64_t{1} << 53)), 31);
}

// x = 1, w = 1: one exact bucket, one for all others.
TEST(RelativeBuckets, TheFewestRows) {
  EXPECT_THAT(RelativeBuckets(2, 2, false).starts(), ElementsAre(0, 1));
  EXPECT_THAT(RelativeBuckets(4, 2, true).starts(), ElementsAre(0, 1));
  EXPECT_THAT(RelativeBuckets(5, 2, true).starts(), ElementsAre(0, 1));  // a row is left over
}

// Borders nearer than integers: buckets 3 and 4 begin at ceil(2 (5/2)^(1/3)) = 3 and
// ceil(2 (5/2)^(2/3)) = 4.
TEST(RelativeBuckets, CountsAreRoundedDown) {
  EXPECT_THAT(RelativeBuckets(5, 5, false).starts(), ElementsAre(0, 1, 2, 3, 4));
}

// 4 (5/4)^(b/4) < 5: all logarithmic buckets but the first begin at 5, so three are empty.
TEST(RelativeBuckets, BucketsMayBeEmpty) {
  const RelativeBuckets few(8, 5, false);
  EXPECT_THAT(few.starts(), ElementsAre(0, 1, 2, 3, 4, 5, 5, 5));
  EXPECT_EQ(few.RowOf(4, 0), 4);
  EXPECT_EQ(few.RowOf(5, 0), 7);
}

// The border at 3 (10^15/3)^(1/3) = 207.. thousand, among integers that doubles cannot decide by
// logarithms: 10^15 = x^3 exactly where x = 10^5 times ... a cube.
TEST(RelativeBuckets, ExactPowersAreReached) {
  // x = 1, w = 2, m = 10^14: the border is 10^7 exactly.
  EXPECT_THAT(RelativeBuckets(3, 100000000000000, false).starts(), ElementsAre(0, 1, 10000000));
  EXPECT_THAT(RelativeBuckets(3, 100000000000001, false).starts(), ElementsAre(0, 1, 10000001));
}

TEST(RelativeBuckets, RefusesWhatMakesNoBuckets) {
  EXPECT_THROW(RelativeBuckets(1, 128, false), Error);
  EXPECT_THROW(RelativeBuckets(3, 128, true), Error);
  EXPECT_THROW(RelativeBuckets(32, 16, false), Error);
  EXPECT_THROW(RelativeBuckets(32, 8, true), Error);
  EXPECT_THROW(RelativeBuckets(1025, 5000, true), Error);
}

}  // namespace
}  // namespace sextant
