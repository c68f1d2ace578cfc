#include "fast/layer/add.h"

#include <string>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class Adding : public testing::Test {};
TYPED_TEST_SUITE(Adding, AllTypes);

// Two operands: the exact sum rounded once. Three: the sum of a and b + c, which is rounded first.
TYPED_TEST(Adding, RoundsOnceAndWritesOnlyItsOutput) {
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

TYPED_TEST(Adding, WorksInPlaceOnEveryOperand) {
  using T = TypeParam;
  OnAllTargets([] {
    Random random;
    constexpr size_t n = 37;
    const auto a = random.Fill<T>(n), b = random.Fill<T>(n), c = random.Fill<T>(n);
    Guarded<T> two(n), three(n);
    Add<T>(n, a.data(), b.data(), nullptr, two.data());
    Add<T>(n, a.data(), b.data(), c.data(), three.data());
    Guarded<T> over_a = a, over_b = b;
    Add<T>(n, over_a.data(), b.data(), nullptr, over_a.data());
    Add<T>(n, a.data(), over_b.data(), nullptr, over_b.data());
    EXPECT_TRUE(over_a.SameBits(two));
    EXPECT_TRUE(over_b.SameBits(two));
    Guarded<T> first = a, second = b, third = c;
    Add<T>(n, first.data(), b.data(), c.data(), first.data());
    Add<T>(n, a.data(), second.data(), c.data(), second.data());
    Add<T>(n, a.data(), b.data(), third.data(), third.data());
    EXPECT_TRUE(first.SameBits(three));
    EXPECT_TRUE(second.SameBits(three));
    EXPECT_TRUE(third.SameBits(three));
  });
}

}  // namespace
}  // namespace sextant::fast
