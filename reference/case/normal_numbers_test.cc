// Normal numbers in vectors are those of their definition, on every instruction set.
#include "reference/case/normal_numbers.h"

#include <gtest/gtest.h>

#include <vector>

#include "reference/base/splitmix64.h"
#include "reference/number/counted/counted_bits_test.h"

namespace sextant {
namespace {

double Expected(uint64_t stream, size_t index) {
  SplitMix64 words(Mix(stream + index));
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(words.Bits() >> 32) * 0x1p-32;
  return sum;
}

TEST(NormalNumbers, AreSumsOfTwelveUniformNumbers) {
  constexpr size_t kGuards = 3;
  OnEveryTarget([] {
    for (const uint64_t stream : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0} - 5}) {
      for (size_t count = 0; count <= 17; ++count) {
        std::vector<double> y(count + kGuards, 7);
        SetNormalNumbers(stream, 3, {y.data(), count});
        for (size_t k = 0; k < y.size(); ++k)
          EXPECT_EQ(y[k], k < count ? Expected(stream, 3 + k) : 7) << k;
      }
    }
  });
}

}  // namespace
}  // namespace sextant
