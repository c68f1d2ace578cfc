#include "fast/layer/rms_norm.h"

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

// Expects the error bound of the header, relative to sums in double-double.
template <class T>
void ExpectNormalized(const Rows& rows, const T* x, const Computed<T>* weight, const T* y) {
  const double u = kUnit<T>, M = static_cast<double>(rows.M);
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
    DoubleDouble sum;
    for (size_t k = 0; k < rows.M; ++k) sum += TwoProduct(ToDouble(x[k]), ToDouble(x[k]));
    const DoubleDouble root = sqrt(sum / M + rows.eps);
    for (size_t k = 0; k < rows.M; ++k) {
      const DoubleDouble w = DoubleDouble(ToDouble(weight[k])) + (rows.unit_offset ? 1.0 : 0.0);
      const DoubleDouble exact = DoubleDouble(ToDouble(x[k])) / root * w;
      const double size = std::abs(exact.high);
      double permitted = size * ((M + 9) / 2 + 3) * u * (1 + (M + 9) * u);
      if (Narrow<T>) permitted += RoundingError(kDType<T>, size + permitted);
      const double error = std::abs((exact - DoubleDouble(ToDouble(y[k]))).high);
      ASSERT_LE(error, permitted) << "row " << n << ", channel " << k << " of " << rows.M;
    }
  }
}

template <class T>
class NormalizeRowsTest : public testing::Test {
 public:
  static void Check(const Rows& rows) {
    Random random(rows.M);
    const size_t count = rows.N * rows.M;
    const Guarded<T> x = random.Fill<T>(count);
    const auto weight = random.Fill<Computed<T>>(rows.M);
    Guarded<T> y(count), in_place = x;
    NormalizeRows(rows, x.data(), weight.data(), y.data());
    ExpectNormalized(rows, x.data(), weight.data(), y.data());
    NormalizeRows(rows, in_place.data(), weight.data(), in_place.data());
    EXPECT_TRUE(in_place.SameBits(y));
  }
};
TYPED_TEST_SUITE(NormalizeRowsTest, AllTypes);

TYPED_TEST(NormalizeRowsTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t M = 1; M <= 129; ++M) {  // 2N + 1, N = 4 vectors of 16
      const auto row = static_cast<ptrdiff_t>(M);
      TestFixture::Check({.N = 2, .M = M, .x_row = row, .y_row = row, .unit_offset = M % 2 == 0});
    }
  });
}

// mean(1, 49) = 25: with eps = 11 inside the root, y = x / 6; outside, y would be x / 16.
TYPED_TEST(NormalizeRowsTest, AddsEpsInsideTheRoot) {
  using T = TypeParam;
  const T x[] = {FromDouble<T>(1), FromDouble<T>(7)};
  const Computed<T> weight[] = {1, 1};
  T y[2];
  OnAllTargets([&] {
    NormalizeRows({.N = 1, .M = 2, .x_row = 2, .y_row = 2, .eps = 11}, x, weight, y);
    for (const size_t i : {0, 1}) {
      const DoubleDouble exact = DoubleDouble(ToDouble(x[i])) / 6.0;
      // The header's bound for M = 2: (M + 9) / 2 + 3 = 8.5 units, and their square.
      double permitted = 8.5 * kUnit<T> * (1 + 8.5 * kUnit<T>)*exact.high;
      if (Narrow<T>) permitted += RoundingError(kDType<T>, exact.high + permitted);
      EXPECT_LE(std::abs((exact - DoubleDouble(ToDouble(y[i]))).high), permitted) << i;
    }
  });
}

TYPED_TEST(NormalizeRowsTest, UsesTheGivenStrides) {
  using T = TypeParam;
  const Rows rows{.N = 3, .M = 5, .x_row = 9, .y_row = 7};
  const auto weight = Random(2).Fill<Computed<T>>(5);
  OnRowsWithGaps<T>(rows, [&](const T* x, T* y) {
    NormalizeRows(rows, x, weight.data(), y);
    ExpectNormalized(rows, x, weight.data(), y);
  });
}

// Large enough for streaming stores.
template <class T>
class SlowNormalizeRows : public testing::Test {};
TYPED_TEST_SUITE(SlowNormalizeRows, StreamedTypes);

TYPED_TEST(SlowNormalizeRows, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  Random random;
  const Rows rows{.N = 5600 / sizeof(T), .M = 5001, .x_row = 5001, .y_row = 5001};
  Guarded<T> x = random.Fill<T>(rows.N * rows.M), y(x.size());
  const Guarded<float> weight = random.Fill<float>(rows.M);
  NormalizeRows(rows, x.data(), weight.data(), y.data());
  NormalizeRows(rows, x.data(), weight.data(), x.data());
  EXPECT_TRUE(x.SameBits(y));
}

}  // namespace
}  // namespace sextant::fast
