#include "fast/layer/linear_scaled.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

// Expects the error bound of the header, relative to sums in double-double.
template <class T>
void ExpectScaled(const ScaledShape& shape, bool scales_x, bool biased) {
  using C = Computed<T>;
  Random random(shape.N * 1000 + shape.F * 100 + shape.A * 10 + shape.M);
  const size_t width = shape.G * shape.M, columns = shape.columns();
  const auto x = random.Fill<C>(shape.rows() * width), weight = random.Fill<C>(columns * width);
  const auto x_scale = random.Fill<C>(shape.N * shape.G), bias_numbers = random.Fill<C>(columns);
  const auto weight_scale = random.Fill<C>(shape.F * shape.G);
  Guarded<T> bias(columns);
  for (size_t i = 0; i < columns; ++i) bias[i] = FromDouble<T>(bias_numbers[i]);
  Guarded<T> y(shape.rows() * columns);
  Guarded<C> scratch(shape.scratch());
  ApplyLinearScaled(shape, x.data(), weight.data(),
                    Scales<C>{scales_x ? x_scale.data() : nullptr, weight_scale.data()},
                    biased ? bias.data() : nullptr, y.data(), scratch.data());
  const double u = kUnit<T>, n = static_cast<double>(shape.M + shape.G + 2);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t row = i / columns, column = i % columns;
    DoubleDouble exact;
    double size = 0;
    for (size_t k = 0; k < width; ++k) {
      const size_t g = k / shape.M;
      const double of_x =
          scales_x ? static_cast<double>(x_scale[row / shape.B * shape.G + g]) : 1.0;
      const auto of_weight = static_cast<double>(weight_scale[column / shape.A * shape.G + g]);
      const DoubleDouble term = TwoProduct(static_cast<double>(x[row * width + k]),
                                           static_cast<double>(weight[column * width + k])) *
                                TwoProduct(of_x, of_weight);
      exact += term;
      size += std::abs(term.high);
    }
    if (biased) exact += DoubleDouble(ToDouble(bias[column]));
    double permitted = n * u * size * (1 + 2 * n * u) + u * std::abs(exact.high);
    if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact.high) + permitted);
    const double error = std::abs((exact - DoubleDouble(ToDouble(y[i]))).high);
    ASSERT_LE(error, permitted) << "row " << row << ", column " << column;
  }
}

template <class T>
class LinearScaledKernel : public testing::Test {};
TYPED_TEST_SUITE(LinearScaledKernel, AllTypes);

TYPED_TEST(LinearScaledKernel, ErrorIsWithinItsBound) {
  OnAllTargets([] {
    for (size_t A = 1; A <= 35; ++A) ExpectScaled<TypeParam>({2, 1, 2, 3, 1, A}, A % 2 == 0, true);
    for (size_t F = 1; F <= 35; ++F) ExpectScaled<TypeParam>({1, 3, 3, 5, F, 1}, true, F % 2 == 0);
    ExpectScaled<TypeParam>({3, 2, 2, 300, 5, 4}, true, true);
    ExpectScaled<TypeParam>({2, 1, 0, 4, 3, 1}, true, true);
  });
}

}  // namespace
}  // namespace sextant::fast
