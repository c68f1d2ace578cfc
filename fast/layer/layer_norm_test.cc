#include "fast/layer/layer_norm.h"

#include "fast/kernel/rows_test.h"

namespace sextant::fast {
namespace {

// Expects the error bound of the header; mean and variance are computed in double-double.
template <class T>
void ExpectCentered(const CenteredRows& rows, const T* x, const Computed<T>* weight,
                    const Computed<T>* bias, const T* y) {
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
      // 1/sqrt(1 - t) - 1 <= t for t <= 1/4. The product with the weight is rounded, then the sum.
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

template <class T>
class NormalizeCenteredTest : public testing::Test {
 public:
  static void Check(const CenteredRows& rows, double low = -2, double high = 2) {
    Random random(rows.M);
    const size_t count = rows.N * rows.M;
    const Guarded<T> x = random.Fill<T>(count, low, high);
    const auto weight = random.Fill<Computed<T>>(rows.M), bias = random.Fill<Computed<T>>(rows.M);
    Guarded<T> y(count), in_place = x;
    NormalizeCentered(rows, x.data(), weight.data(), bias.data(), y.data());
    ExpectCentered(rows, x.data(), weight.data(), bias.data(), y.data());
    NormalizeCentered(rows, in_place.data(), weight.data(), bias.data(), in_place.data());
    EXPECT_TRUE(in_place.SameBits(y));
  }
};
TYPED_TEST_SUITE(NormalizeCenteredTest, AllTypes);

TYPED_TEST(NormalizeCenteredTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t M = 1; M <= 129; ++M) {  // 2N + 1, N = 4 vectors of 16
      const auto row = static_cast<ptrdiff_t>(M);
      TestFixture::Check({.N = 2, .M = M, .x_row = row, .y_row = row});
    }
  });
}

// The mean is 10^4 times the deviation: in f32, E[x^2] - mean^2 would lose the variance.
TEST(NormalizeCentered, IsAccurateForALargeMean) {
  OnAllTargets([] {
    for (const size_t M : {8, 17, 33, 70}) {
      const auto row = static_cast<ptrdiff_t>(M);
      const CenteredRows rows{.N = 2, .M = M, .x_row = row, .y_row = row};
      NormalizeCenteredTest<float>::Check(rows, 10000, 10004);
    }
  });
}

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

TYPED_TEST(NormalizeCenteredTest, UsesTheGivenStrides) {
  using T = TypeParam;
  const CenteredRows rows{.N = 3, .M = 5, .x_row = 9, .y_row = 7};
  Random random(2);
  const auto weight = random.Fill<Computed<T>>(5), bias = random.Fill<Computed<T>>(5);
  OnRowsWithGaps<T>(rows, [&](const T* x, T* y) {
    NormalizeCentered(rows, x, weight.data(), bias.data(), y);
    ExpectCentered(rows, x, weight.data(), bias.data(), y);
  });
}

// Large enough for streaming stores.
template <class T>
class SlowNormalizeCentered : public testing::Test {};
TYPED_TEST_SUITE(SlowNormalizeCentered, StreamedTypes);

TYPED_TEST(SlowNormalizeCentered, GivesTheSameBitsWhenStreaming) {
  using T = TypeParam;
  Random random;
  const CenteredRows rows{.N = 5600 / sizeof(T), .M = 5001, .x_row = 5001, .y_row = 5001};
  Guarded<T> x = random.Fill<T>(rows.N * rows.M), y(x.size());
  const Guarded<float> weight = random.Fill<float>(rows.M), bias = random.Fill<float>(rows.M);
  NormalizeCentered(rows, x.data(), weight.data(), bias.data(), y.data());
  NormalizeCentered(rows, x.data(), weight.data(), bias.data(), x.data());
  EXPECT_TRUE(x.SameBits(y));
}

}  // namespace
}  // namespace sextant::fast
