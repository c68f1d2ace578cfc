#include "fast/attention_merge.h"

#include <cmath>
#include <limits>

#include "fast/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class MergePartsTest : public testing::Test {
 public:
  // Scores within +-4: each weight is off by a few roundings.
  static void Check(size_t N, size_t E, bool empty_parts = false) {
    Random random(N * 100 + E);
    Guarded<T> y1(random.Fill<T>(N * E, -1, 1)), y2(random.Fill<T>(N * E, -1, 1)), y(N * E);
    using C = Computed<T>;
    Guarded<C> lse1(random.Fill<C>(N, -4, 4)), lse2(random.Fill<C>(N, -4, 4)), lse(N);
    constexpr C kNone = -std::numeric_limits<C>::infinity();
    for (size_t n = 0; empty_parts && n < N; ++n) {
      if (n % 4 == 0 || n % 4 == 2) lse1[n] = kNone;
      if (n % 4 == 1 || n % 4 == 2) lse2[n] = kNone;
      for (size_t e = 0; n % 4 == 0 && e < E; ++e) y1[n * E + e] = FromDouble<T>(NAN);
    }
    MergeParts<T>({N, E, y1.data(), y2.data(), lse1.data(), lse2.data()}, y.data(), lse.data());
    for (size_t n = 0; n < N; ++n) {
      const double a = std::exp(static_cast<double>(lse1[n])),
                   b = std::exp(static_cast<double>(lse2[n]));
      if (a + b == 0) {
        ASSERT_EQ(lse[n], kNone);
      } else {
        ASSERT_NEAR(lse[n], std::log(a + b), 16 * kUnit<T>);
      }
      for (size_t e = 0; e < E; ++e) {
        double mean = 0;
        if (a > 0) mean += a / (a + b) * ToDouble(y1[n * E + e]);
        if (b > 0) mean += b / (a + b) * ToDouble(y2[n * E + e]);
        double permitted = 24 * kUnit<T>;
        if (Narrow<T>) permitted += RoundingError(kDType<T>, 1);
        ASSERT_NEAR(ToDouble(y[n * E + e]), mean, permitted) << n << " " << e;
      }
    }
  }
};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(MergePartsTest, AllTypes);

TYPED_TEST(MergePartsTest, IsRightAtEveryWidth) {
  OnAllTargets([] {
    for (size_t E = 0; E <= 33; ++E) TestFixture::Check(3, E);
  });
}

TYPED_TEST(MergePartsTest, PartsWithoutKeysDoNotCount) {
  OnAllTargets([] { TestFixture::Check(8, 5, true); });
}

}  // namespace
}  // namespace sextant::fast
