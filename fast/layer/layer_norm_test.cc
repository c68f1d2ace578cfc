#include "fast/layer/layer_norm.h"

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

template <class T>
struct LayerNormKernel {
  using Element = T;
  using Rows = CenteredRows;
  static constexpr double kReach = 2;
  explicit LayerNormKernel(size_t M)
      : weight(Random(M + 1).Fill<Computed<T>>(M)), bias(Random(M + 2).Fill<Computed<T>>(M)) {}
  void Run(const Rows& rows, const T* x, T* y) const {
    NormalizeCentered(rows, x, weight.data(), bias.data(), y);
  }
  // Mean and variance are computed in double-double.
  void Expect(const Rows& rows, const T* x, const T* y) const {
    const double u = kUnit<T>, M = static_cast<double>(rows.M);
    for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
      DoubleDouble sum, squares;
      double size = 0, spread = 0;
      for (size_t k = 0; k < rows.M; ++k) sum += DoubleDouble(ToDouble(x[k]));
      for (size_t k = 0; k < rows.M; ++k) size += std::abs(ToDouble(x[k])) / M;
      const DoubleDouble mean = sum / M;
      for (size_t k = 0; k < rows.M; ++k) {
        const DoubleDouble c = DoubleDouble(ToDouble(x[k])) - mean;
        squares += c * c;
        spread += std::abs(c.high) / M;
      }
      const DoubleDouble variance = squares / M + rows.eps;
      const double off = (M + 1) * u * size * (1 + M * u);
      const double of_variance =
          (2 * spread * off + off * off + (M + 4) * u * variance.high) / variance.high;
      ASSERT_LT(of_variance, 0.25) << "no two-pass algorithm is accurate for these inputs";
      const double root = std::sqrt(variance.high);
      for (size_t k = 0; k < rows.M; ++k) {
        const DoubleDouble c = DoubleDouble(ToDouble(x[k])) - mean;
        const DoubleDouble scaled = c / sqrt(variance) * ToDouble(weight[k]);
        const DoubleDouble exact = scaled + ToDouble(bias[k]);
        // 1/sqrt(1 - t) - 1 <= t for t <= 1/4. The product with the weight is rounded, then the
        // sum.
        const double of_scaled = std::abs(scaled.high) * (of_variance + 4 * u) +
                                 off / root * std::abs(ToDouble(weight[k])) * (1 + of_variance);
        const double product_activated = of_scaled + u * (std::abs(scaled.high) + of_scaled);
        double permitted = product_activated + u * (std::abs(exact.high) + product_activated);
        if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact.high) + permitted);
        const double error = std::abs((exact - DoubleDouble(ToDouble(y[k]))).high);
        ASSERT_LE(error, permitted) << "row " << n << ", channel " << k << " of " << rows.M;
      }
    }
  }
  Guarded<Computed<T>> weight, bias;
};
INSTANTIATE_TYPED_TEST_SUITE_P(LayerNorm, KernelOfRows, OfAllTypes<LayerNormKernel>);
INSTANTIATE_TYPED_TEST_SUITE_P(LayerNorm, SlowKernelOfRows, OfStreamedTypes<LayerNormKernel>);

// The mean is 10^4 times the deviation: in f32, E[x^2] - mean^2 would lose the variance.
TEST(NormalizeCentered, IsAccurateForALargeMean) {
  using Kernel = LayerNormKernel<float>;
  OnAllTargets([] {
    for (const size_t M : {8, 17, 33, 70})
      ExpectRows<Kernel>(DenseRows<Kernel>(2, M), 10000, 10004);
  });
}

template <class T>
class NormalizeCenteredTest : public testing::Test {};
TYPED_TEST_SUITE(NormalizeCenteredTest, AllTypes);

// mean 4, variance 9: with eps = 7 inside the root, y = (x - 4) / 4 * 2 + 1/2.
TYPED_TEST(NormalizeCenteredTest, AddsEpsInsideTheRoot) {
  using T = TypeParam;
  const T x[] = {FromDouble<T>(1), FromDouble<T>(7)};
  const Computed<T> weight[] = {2, 2}, bias[] = {0.5, 0.5};
  T y[2];
  OnAllTargets([&] {
    NormalizeCentered({.N = 1, .M = 2, .x_row = 2, .y_row = 2, .eps = 7}, x, weight, bias, y);
    EXPECT_EQ(ToDouble(y[0]), -1);  // all intermediates are exact
    EXPECT_EQ(ToDouble(y[1]), 2);
  });
}

}  // namespace
}  // namespace sextant::fast
