#include "reference/position/relative_bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

// P = 8, bidirectional: n = 4, x = 2. Buckets 2 and 3 begin at distances 2 and 2 sqrt(4) = 4.
TEST(RelativeBias, ReadsTheRowOfTheBucket) {
  EXPECT_THAT(DoublesOf("relative_bias bidirectional=true max_distance=8 P=8 H=1 "
                        "@table=10,11,12,13,14,15,16,17 @query_position=5 "
                        "@key_position=0,1,2,3,4,5,6,7,8,9"),
              ElementsAre(13, 13, 12, 12, 11, 10, 15, 16, 16, 17));
}

// P = 4 in one direction: the same four buckets; keys after the query have distance 0.
TEST(RelativeBias, OneDirectionPutsLaterKeysInBucketZero) {
  EXPECT_THAT(DoublesOf("relative_bias bidirectional=false max_distance=8 P=4 H=1 "
                        "@table=10,11,12,13 @query_position=5 @key_position=0,1,2,3,4,5,6"),
              ElementsAre(13, 13, 12, 12, 11, 10, 10));
}

TEST(RelativeBias, HeadsAreColumns) {
  EXPECT_THAT(DoublesOf("relative_bias bidirectional=false max_distance=8 P=2 H=3 "
                        "@table=1,2,3,4,5,6 @query_position=1 @key_position=0,1"),
              ElementsAre(4, 1, 5, 2, 6, 3));
}

TEST(RelativeBias, PermitsNoError) {
  const GoldenTensor bias =
      ProofOf("relative_bias bidirectional=true P=32 H=2 S=9 T=9 dtype=bf16").golden[0];
  EXPECT_THAT(bias.permitted.data, Each(0));
}

}  // namespace
}  // namespace sextant
