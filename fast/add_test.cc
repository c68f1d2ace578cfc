#include "fast/add.h"

#include <string>

#include "fast/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class Adding : public testing::Test {};
using Elements = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(Adding, Elements);

// Of two: the exact sum rounded once. Of three: that of a and the rounded b + c.
TYPED_TEST(Adding, RoundsOnceAndStaysInItsMemory) {
  using T = TypeParam;
  using C = Computed<T>;
  OnAllTargets([] {
    for (const size_t n : {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 70}) {
      Random random(n + 1);
      const auto a = random.Fill<T>(n), b = random.Fill<T>(n), c = random.Fill<T>(n);
      Guarded<T> two(n), three(n);
      Add<T>(n, a.data(), b.data(), nullptr, two.data());
      Add<T>(n, a.data(), b.data(), c.data(), three.data());
      for (size_t i = 0; i < n; ++i) {
        const C x = static_cast<C>(ToDouble(a[i])), y = static_cast<C>(ToDouble(b[i]));
        const C z = static_cast<C>(ToDouble(c[i]));
        EXPECT_EQ(ToDouble(two[i]), RoundTo(kDType<T>, static_cast<double>(x + y))) << i;
        EXPECT_EQ(ToDouble(three[i]), RoundTo(kDType<T>, static_cast<double>(x + (y + z)))) << i;
      }
    }
  });
}

TYPED_TEST(Adding, MayWriteOverAnOperand) {
  using T = TypeParam;
  OnAllTargets([] {
    Random random;
    const auto a = random.Fill<T>(37), b = random.Fill<T>(37);
    Guarded<T> y(37), in_place = a;
    Add<T>(37, a.data(), b.data(), nullptr, y.data());
    Add<T>(37, in_place.data(), b.data(), nullptr, in_place.data());
    for (size_t i = 0; i < 37; ++i) EXPECT_EQ(ToDouble(in_place[i]), ToDouble(y[i]));
  });
}

}  // namespace
}  // namespace sextant::fast
