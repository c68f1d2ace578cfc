#include "fast/position/scale_rows.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class ScaleRowsTest : public testing::Test {
 public:
  // Expects each product in Computed<T>, rounded to T.
  static void Check(size_t rows, size_t width, size_t factors) {
    Random random(width);
    const Guarded<T> x = random.Fill<T>(rows * width);
    const auto factor = random.Fill<Computed<T>>(factors);
    const std::span<const Computed<T>> all(factor.data(), factors);
    const Guarded<T> y =
        InPlaceToo(x, [&](const T* from, T* to) { ScaleRows<T>(rows, width, from, all, to); });
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = ToDouble(x[i]) * factor[i / width % factors];
      const auto computed = static_cast<Computed<T>>(exact);
      ASSERT_EQ(ToDouble(y[i]), ToDouble(FromDouble<T>(computed))) << i << " of width " << width;
    }
  }
};
TYPED_TEST_SUITE(ScaleRowsTest, AllTypes);

TYPED_TEST(ScaleRowsTest, ProductsAreRoundedAtEveryWidth) {
  OnAllTargets([] {
    for (size_t width = 1; width <= 33; ++width) TestFixture::Check(5, width, 3);
  });
}

// Widths with pairs of vectors and a remainder.
TYPED_TEST(ScaleRowsTest, ProductsAreRoundedInPairsOfVectors) {
  OnAllTargets([] {
    for (const size_t width : {34, 47, 63, 64, 65, 97, 128}) TestFixture::Check(4, width, 3);
  });
}

TYPED_TEST(ScaleRowsTest, AcceptsEmptyInputs) {
  TestFixture::Check(3, 0, 3);
  TestFixture::Check(0, 4, 0);
}

}  // namespace
}  // namespace sextant::fast
