#include "fast/layer/rms_norm.h"

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

template <class T>
struct RmsNormKernel {
  using Element = T;
  using Rows = fast::Rows;
  static constexpr double kReach = 2;
  explicit RmsNormKernel(size_t M)
      : weight(Random(M + 1).Fill<Computed<T>>(M)), unit_offset(M % 2 == 0) {}
  void Run(Rows rows, const T* x, T* y) const {
    rows.unit_offset = unit_offset;
    NormalizeRows(rows, x, weight.data(), y);
  }
  // Relative to sums in double-double.
  void Expect(const Rows& rows, const T* x, const T* y) const {
    const double u = kUnit<T>, M = static_cast<double>(rows.M);
    for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
      DoubleDouble sum;
      for (size_t k = 0; k < rows.M; ++k) sum += TwoProduct(ToDouble(x[k]), ToDouble(x[k]));
      const DoubleDouble root = sqrt(sum / M + rows.eps);
      for (size_t k = 0; k < rows.M; ++k) {
        const DoubleDouble w = DoubleDouble(ToDouble(weight[k])) + (unit_offset ? 1.0 : 0.0);
        const DoubleDouble exact = DoubleDouble(ToDouble(x[k])) / root * w;
        const double size = std::abs(exact.high);
        double permitted = size * ((M + 9) / 2 + 3) * u * (1 + (M + 9) * u);
        if (Narrow<T>) permitted += RoundingError(kDType<T>, size + permitted);
        const double error = std::abs((exact - DoubleDouble(ToDouble(y[k]))).high);
        ASSERT_LE(error, permitted) << "row " << n << ", channel " << k << " of " << rows.M;
      }
    }
  }
  Guarded<Computed<T>> weight;
  bool unit_offset;
};
INSTANTIATE_TYPED_TEST_SUITE_P(RmsNorm, KernelOfRows, OfAllTypes<RmsNormKernel>);
INSTANTIATE_TYPED_TEST_SUITE_P(RmsNorm, SlowKernelOfRows, OfStreamedTypes<RmsNormKernel>);

template <class T>
class NormalizeRowsTest : public testing::Test {};
TYPED_TEST_SUITE(NormalizeRowsTest, AllTypes);

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

}  // namespace
}  // namespace sextant::fast
