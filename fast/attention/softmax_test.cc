#include "fast/attention/softmax.h"

#include <cmath>

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

template <class T>
struct SoftmaxKernel {
  using Element = T;
  using Rows = SoftmaxRows;
  static constexpr double kReach = 10;
  explicit SoftmaxKernel(size_t) {}
  void Run(const Rows& rows, const T* x, T* y) const { SoftmaxOfRows(rows, x, y); }
  // Compares with exponentials and sums in double-double. Permitted relative error: u |x - largest|
  // for the difference and 2 u for the exponential; the same for the terms of the sum, plus M
  // roundings of the sum; the reciprocal and the product.
  void Expect(const Rows& rows, const T* x, const T* y) const {
    const double u = kUnit<T>;
    for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
      double largest = -INFINITY, reach = 0;
      for (size_t k = 0; k < rows.M; ++k) largest = std::max(largest, ToDouble(x[k]));
      DoubleDouble sum;
      for (size_t k = 0; k < rows.M; ++k) {
        const double exponent = ToDouble(x[k]) - largest;
        if (std::isfinite(exponent)) reach = std::max(reach, -exponent);
        if (std::isfinite(exponent)) sum += exp(DoubleDouble(ToDouble(x[k])) - largest);
      }
      for (size_t k = 0; k < rows.M; ++k) {
        const bool masked = std::isinf(ToDouble(x[k]));
        const DoubleDouble exact =
            masked ? DoubleDouble() : exp(DoubleDouble(ToDouble(x[k])) - largest) / sum;
        const double relative = (2 * reach + 6 + static_cast<double>(rows.M)) * u;
        double permitted = exact.high * relative * (1 + relative);
        permitted += 2 * MinSubnormal(std::same_as<Computed<T>, float> ? DType::kF32 : DType::kF64);
        if (Narrow<T>) permitted += RoundingError(kDType<T>, exact.high + permitted);
        if (masked) permitted = 0;
        const double error = std::abs((exact - DoubleDouble(ToDouble(y[k]))).high);
        ASSERT_LE(error, permitted) << "row " << n << ", column " << k << " of " << rows.M;
      }
    }
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Softmax, KernelOfRows, OfAllTypes<SoftmaxKernel>);
INSTANTIATE_TYPED_TEST_SUITE_P(Softmax, SlowKernelOfRows, OfStreamedTypes<SoftmaxKernel>);

template <class T>
class SoftmaxOfRowsTest : public testing::Test {};
TYPED_TEST_SUITE(SoftmaxOfRowsTest, AllTypes);

// Exponentials that underflow, and x whose exponentials overflow if the largest is not subtracted.
TYPED_TEST(SoftmaxOfRowsTest, ErrorIsWithinItsBoundForPeakedRows) {
  using Kernel = SoftmaxKernel<TypeParam>;
  OnAllTargets([] { ExpectRows<Kernel>(DenseRows<Kernel>(3, 37), -1000, 1000); });
}

TYPED_TEST(SoftmaxOfRowsTest, MaskedElementsHaveNoWeight) {
  using T = TypeParam;
  OnAllTargets([] {
    for (size_t M = 2; M <= 70; ++M) {
      Guarded<T> x = Random(M).Fill<T>(M), y(M);
      for (size_t k = 0; k < M; k += 1 + k % 3) x[k] = FromDouble<T>(-INFINITY);
      x[M - 1] = FromDouble<T>(-1);
      const SoftmaxKernel<T> kernel(M);
      const auto rows = DenseRows<SoftmaxKernel<T>>(1, M);
      kernel.Run(rows, x.data(), y.data());
      kernel.Expect(rows, x.data(), y.data());
    }
  });
}

TEST(SoftmaxOfRows, AFullyMaskedRowIsNaN) {
  const float x[] = {-INFINITY, -INFINITY, -INFINITY};
  float y[3];
  OnAllTargets([&] {
    SoftmaxOfRows({1, 3, 3, 3}, x, y);
    for (const float each : y) EXPECT_TRUE(std::isnan(each));
  });
}

}  // namespace
}  // namespace sextant::fast
