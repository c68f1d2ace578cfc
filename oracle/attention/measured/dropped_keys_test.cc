#include "oracle/attention/measured/dropped_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// D = 16, so the right scale is 1/4. Six query heads share two key heads.
const std::string kLongLine = "attention H=6 K=2 S=14 T=14 D=16 E=16 ";

TEST(DroppedKeys, AreNamed) {
  PlantedAttention planted = GroupedAttention();
  planted.score_at = [](size_t h, size_t s, size_t t, double x) {
    return (7 * s + 5 * t + 3 * h) % 10 == 0 ? -INFINITY : x;
  };
  for (const char* dtype : {"dtype=f32", "dtype=bf16"})
    EXPECT_THAT(CausesOfSubject(kLongLine + dtype, planted), Contains(StartsWith("keys_dropped (")))
        << dtype;
}

TEST(DroppedKeys, AreSmallOnes) {
  PlantedAttention planted = GroupedAttention();
  planted.least_weight = 1.0 / 32;
  EXPECT_THAT(CausesOfSubject(kLongLine + "dtype=f32", planted),
              Contains(StartsWith("small_weights_dropped+lost_keys_in_the_sum (keys whose weight "
                                  "is less than 0.03")));
  // Some queries lose all keys.
  planted.least_weight = 1.0 / 8;
  EXPECT_THAT(CausesOfSubject(kLongLine + "dtype=f32", planted),
              Contains(StartsWith("small_weights_dropped+lost_keys_in_the_sum (keys whose weight "
                                  "is less than 0.12")));
}

TEST(DroppedKeys, AreThoseThatShouldBeSeen) {
  PlantedAttention planted = GroupedAttention();
  planted.sees = [](size_t s, size_t t) { return t > s; };
  for (const char* dtype : {"dtype=f32", "dtype=bf16"})
    EXPECT_THAT(CausesOfSubject(kLongLine + "mask=causal " + dtype, planted),
                Contains("mask_inverted (the mask is inverted: queries see the keys that they "
                         "should not see, and no others)"))
        << dtype;
}

}  // namespace
}  // namespace sextant::oracle
