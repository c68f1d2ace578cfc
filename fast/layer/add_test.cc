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
    InPlaceToo(a, [&](const T* x, T* y) { Add<T>(n, x, b.data(), nullptr, y); });
    InPlaceToo(b, [&](const T* x, T* y) { Add<T>(n, a.data(), x, nullptr, y); });
    InPlaceToo(a, [&](const T* x, T* y) { Add<T>(n, x, b.data(), c.data(), y); });
    InPlaceToo(b, [&](const T* x, T* y) { Add<T>(n, a.data(), x, c.data(), y); });
    InPlaceToo(c, [&](const T* x, T* y) { Add<T>(n, a.data(), b.data(), x, y); });
  });
}

}  // namespace
}  // namespace sextant::fast
