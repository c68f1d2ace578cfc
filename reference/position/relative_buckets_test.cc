#include "reference/position/relative_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

// T5's own settings. Buckets begin exactly at 16, 32 and 64: ln(16/8) / ln(128/8) * 8 = 2.
TEST(RelativeBuckets, BidirectionalStartsOfT5) {
  EXPECT_THAT(RelativeBuckets(32, 128, true).starts(),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91));
}

TEST(RelativeBuckets, OneDirectionStartsOfT5) {
  std::vector<int64_t> starts(16);
  for (int64_t d = 0; d < 16; ++d) starts[static_cast<size_t>(d)] = d;
  for (const int64_t d : {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113})
    starts.push_back(d);
  EXPECT_THAT(RelativeBuckets(32, 128, false).starts(), ElementsAreArray(starts));
}

TEST(RelativeBuckets, KeysAfterTheQueryUseTheSecondHalf) {
  const RelativeBuckets both(32, 128, true);
  EXPECT_EQ(both.RowOf(100, 100), 0);
  EXPECT_EQ(both.RowOf(100, 99), 1);
  EXPECT_EQ(both.RowOf(100, 101), 17);
  EXPECT_EQ(both.RowOf(100, 85), 9);
  EXPECT_EQ(both.RowOf(100, 84), 10);  // distance 16
  EXPECT_EQ(both.RowOf(100, 116), 26);
  EXPECT_EQ(both.RowOf(0, 1 << 20), 31);
}

TEST(RelativeBuckets, OneDirectionPutsLaterKeysInBucketZero) {
  const RelativeBuckets causal(32, 128, false);
  EXPECT_EQ(causal.RowOf(5, 9), 0);
  EXPECT_EQ(causal.RowOf(20, 5), 15);
  EXPECT_EQ(causal.RowOf(120, 7), 31);
  EXPECT_EQ(causal.RowOf(int64_t{1} << 53, -(int64_t{1} << 53)), 31);
}

// x = 1, w = 1: one bucket for distance 0, one for all other distances.
TEST(RelativeBuckets, AcceptsTheFewestRows) {
  EXPECT_THAT(RelativeBuckets(2, 2, false).starts(), ElementsAre(0, 1));
  EXPECT_THAT(RelativeBuckets(4, 2, true).starts(), ElementsAre(0, 1));
  EXPECT_THAT(RelativeBuckets(5, 2, true).starts(), ElementsAre(0, 1));  // one row is unused
}

// n = 5: x = 2 (rounded down), w = 3. Buckets 3 and 4 begin at ceil(2 (5/2)^(1/3)) = 3 and
// ceil(2 (5/2)^(2/3)) = 4.
TEST(RelativeBuckets, RoundsHalfOfAnOddCountDown) {
  EXPECT_THAT(RelativeBuckets(5, 5, false).starts(), ElementsAre(0, 1, 2, 3, 4));
}

// 4 < 4 (5/4)^(b/4) < 5 for b = 1, 2, 3: buckets 5, 6 and 7 begin at 5, so buckets 5 and 6 are
// empty.
TEST(RelativeBuckets, BucketsMayBeEmpty) {
  const RelativeBuckets few(8, 5, false);
  EXPECT_THAT(few.starts(), ElementsAre(0, 1, 2, 3, 4, 5, 5, 5));
  EXPECT_EQ(few.RowOf(4, 0), 4);
  EXPECT_EQ(few.RowOf(5, 0), 7);
}

// x = 1, w = 2: bucket 2 begins at the least d with d^2 >= m. For m = 10^14 this is 10^7 exactly. A
// rounded logarithm does not distinguish m = 10^14 from 10^14 + 1.
TEST(RelativeBuckets, StartsAreExactForLargeDistances) {
  EXPECT_THAT(RelativeBuckets(3, 100000000000000, false).starts(), ElementsAre(0, 1, 10000000));
  EXPECT_THAT(RelativeBuckets(3, 100000000000001, false).starts(), ElementsAre(0, 1, 10000001));
}

TEST(RelativeBuckets, RefusesRowsAndDistancesOutOfRange) {
  EXPECT_THROW(RelativeBuckets(1, 128, false), Error);
  EXPECT_THROW(RelativeBuckets(3, 128, true), Error);
  EXPECT_THROW(RelativeBuckets(32, 16, false), Error);
  EXPECT_THROW(RelativeBuckets(32, 8, true), Error);
  EXPECT_THROW(RelativeBuckets(1025, 5000, true), Error);
}

}  // namespace
}  // namespace sextant
