#include "fast/attention/softmax.h"

#include <cmath>

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

// Compares with exponentials and sums in double-double. Permitted relative error: u |x - largest|
// for the difference and 2 u for the exponential; the same for the terms of the sum, plus M
// roundings of the sum; the reciprocal and the product.
template <class T>
void ExpectSoftmax(const SoftmaxRows& rows, const T* x, const T* y) {
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

template <class T>
class SoftmaxOfRowsTest : public testing::Test {
 public:
  static void Check(const SoftmaxRows& rows, double reach = 10) {
    Random random(rows.M);
    const Guarded<T> x = random.Fill<T>(rows.N * rows.M, -reach, reach);
    Guarded<T> y(x.size()), in_place = x;
    Guarded<Computed<T>> scratch(rows.M);
    SoftmaxOfRows(rows, x.data(), y.data(), scratch.data());
    ExpectSoftmax(rows, x.data(), y.data());
    SoftmaxOfRows(rows, in_place.data(), in_place.data(), scratch.data());
    EXPECT_TRUE(in_place.SameBits(y));
  }
};
TYPED_TEST_SUITE(SoftmaxOfRowsTest, AllTypes);

TYPED_TEST(SoftmaxOfRowsTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t M = 1; M <= 129; ++M) {  // 2N + 1, N = 4 vectors of 16
      const auto row = static_cast<ptrdiff_t>(M);
      TestFixture::Check({.N = 2, .M = M, .x_row = row, .y_row = row});
    }
  });
}

// Exponentials that underflow, and x whose exponentials overflow if the largest is not subtracted.
TYPED_TEST(SoftmaxOfRowsTest, ErrorIsWithinItsBoundForPeakedRows) {
  OnAllTargets([] { TestFixture::Check({.N = 3, .M = 37, .x_row = 37, .y_row = 37}, 1000); });
}

TYPED_TEST(SoftmaxOfRowsTest, MaskedElementsHaveNoWeight) {
  using T = TypeParam;
  OnAllTargets([] {
    for (size_t M = 2; M <= 70; ++M) {
      Random random(M);
      Guarded<T> x = random.Fill<T>(M), y(M);
      Guarded<Computed<T>> scratch(M);
      for (size_t k = 0; k < M; k += 1 + k % 3) x[k] = FromDouble<T>(-INFINITY);
      x[M - 1] = FromDouble<T>(-1);
      const auto row = static_cast<ptrdiff_t>(M);
      SoftmaxOfRows({1, M, row, row}, x.data(), y.data(), scratch.data());
      ExpectSoftmax({1, M, row, row}, x.data(), y.data());
    }
  });
}

TYPED_TEST(SoftmaxOfRowsTest, UsesTheGivenStrides) {
  using T = TypeParam;
  const SoftmaxRows rows{.N = 3, .M = 5, .x_row = 9, .y_row = 7};
  OnRowsWithGaps<T>(rows, [&](const T* x, T* y) {
    Guarded<Computed<T>> scratch(5);
    SoftmaxOfRows(rows, x, y, scratch.data());
    ExpectSoftmax(rows, x, y);
  });
}

TEST(SoftmaxOfRows, AFullyMaskedRowIsNaN) {
  const float x[] = {-INFINITY, -INFINITY, -INFINITY};
  float y[3], scratch[3];
  OnAllTargets([&] {
    SoftmaxOfRows({1, 3, 3, 3}, x, y, scratch);
    for (const float each : y) EXPECT_TRUE(std::isnan(each));
  });
}

// Large enough for streaming stores.
template <class T>
class SlowSoftmaxOfRows : public testing::Test {};
TYPED_TEST_SUITE(SlowSoftmaxOfRows, StreamedTypes);

TYPED_TEST(SlowSoftmaxOfRows, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  Random random;
  const SoftmaxRows rows{.N = 5600 / sizeof(T), .M = 5001, .x_row = 5001, .y_row = 5001};
  Guarded<T> x = random.Fill<T>(rows.N * rows.M), y(x.size());
  Guarded<float> scratch(rows.M);
  SoftmaxOfRows(rows, x.data(), y.data(), scratch.data());
  SoftmaxOfRows(rows, x.data(), x.data(), scratch.data());
  EXPECT_TRUE(x.SameBits(y));
}

}  // namespace
}  // namespace sextant::fast
