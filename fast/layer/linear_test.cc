#include "fast/layer/linear.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
struct Layer {
  ProductShape shape;
  Guarded<T> x, weight, bias;

  explicit Layer(const ProductShape& of) : Layer(of, Random(of.N * 1000 + of.F * 100 + of.K)) {}
  Layer(const ProductShape& of, Random random)
      : shape(of),
        x(random.Fill<T>(of.N * of.K)),
        weight(random.Fill<T>(of.F * of.K)),
        bias(random.Fill<T>(of.F)) {}
  Guarded<T> Applied(bool biased = true) const {
    Guarded<T> y(shape.N * shape.F);
    ApplyLinear(shape, x.data(), weight.data(), biased ? bias.data() : nullptr, y.data());
    return y;
  }
};

// Expects the error bound of the header, relative to sums in double-double.
template <class T>
void ExpectProduct(const Layer<T>& layer, bool biased, const Guarded<T>& y) {
  const auto& [N, F, K] = layer.shape;
  const double u = kUnit<T>;
  for (size_t i = 0; i < N * F; ++i) {
    DoubleDouble exact;
    double size = 0;
    for (size_t k = 0; k < K; ++k) {
      const DoubleDouble product =
          TwoProduct(ToDouble(layer.x[i / F * K + k]), ToDouble(layer.weight[i % F * K + k]));
      exact += product;
      size += std::abs(product.high);
    }
    if (biased) exact += DoubleDouble(ToDouble(layer.bias[i % F]));
    double permitted = (static_cast<double>(K) + 1) * u * size + u * std::abs(exact.high);
    permitted *= 1 + 2 * (static_cast<double>(K) + 1) * u;
    if (Narrow<T>) permitted += RoundingError(kDType<T>, std::abs(exact.high) + permitted);
    const double error = std::abs((exact - DoubleDouble(ToDouble(y[i]))).high);
    ASSERT_LE(error, permitted) << "row " << i / F << ", output " << i % F << " of " << N << " x "
                                << F << " x " << K;
  }
}

template <class T>
class ApplyLinearTest : public testing::Test {
 public:
  static void Check(const ProductShape& shape) {
    const Layer<T> layer(shape);
    for (const bool biased : {false, true}) ExpectProduct(layer, biased, layer.Applied(biased));
  }
};
TYPED_TEST_SUITE(ApplyLinearTest, AllTypes);

// Sizes around one and two tiles. A tile has 8 or 6 rows and up to three vectors of up to 16 lanes.
TYPED_TEST(ApplyLinearTest, ErrorIsWithinItsBoundForAllRowsAndOutputs) {
  OnAllTargets([] {
    for (size_t N = 1; N <= 17; ++N) TestFixture::Check({N, 5, 3});
    for (size_t F = 1; F <= 50; ++F) TestFixture::Check({2, F, 4});
    TestFixture::Check({9, 97, 5});
  });
}

TYPED_TEST(ApplyLinearTest, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t K = 1; K <= 33; ++K) TestFixture::Check({3, 7, K});
  });
}

// More than one block: a block has 512 rows, 480 outputs, 256 columns.
TYPED_TEST(ApplyLinearTest, ErrorIsWithinItsBoundForSeveralBlocks) {
  OnAllTargets([] {
    TestFixture::Check({2, 3, 600});
    TestFixture::Check({513, 2, 3});
    TestFixture::Check({130, 481, 2});
  });
}

// The bits do not depend on the other rows and outputs. The width has a rest after all vectors and
// blocks, and half of the terms cancel the others, so that 16 bits show the rounding errors of
// sums.
TYPED_TEST(ApplyLinearTest, AnElementHasTheSameBitsInEveryProduct) {
  using T = TypeParam;
  constexpr size_t kWidth = 302, kOutputs = 61;
  Layer<T> all({19, kOutputs, kWidth});
  for (size_t k = 0; k < kWidth / 2; ++k) {
    const size_t other = kWidth / 2 + k;
    for (size_t n = 0; n < 19; ++n)
      all.x[n * kWidth + other] = FromDouble<T>(-ToDouble(all.x[n * kWidth + k]));
    for (size_t f = 0; f < kOutputs; ++f)
      all.weight[f * kWidth + other] = all.weight[f * kWidth + k];
  }
  OnAllTargets([&] {
    const Guarded<T> y = all.Applied(false);
    Layer<T> row = all;
    row.shape.N = 1;
    std::copy_n(&all.x[7 * kWidth], kWidth, row.x.data());
    const Guarded<T> y_of_row = row.Applied(false);
    EXPECT_EQ(std::memcmp(&y_of_row[0], &y[7 * kOutputs], kOutputs * sizeof(T)), 0)
        << "a row alone";
    Layer<T> one({1, 1, kWidth});
    for (const auto& [n, f] :
         {std::pair<size_t, size_t>{0, 0}, {18, kOutputs - 1}, {7, 48}, {8, 31}}) {
      std::copy_n(&all.x[n * kWidth], kWidth, one.x.data());
      std::copy_n(&all.weight[f * kWidth], kWidth, one.weight.data());
      const Guarded<T> alone = one.Applied(false);
      EXPECT_EQ(std::memcmp(&alone[0], &y[n * kOutputs + f], sizeof(T)), 0) << n << ", " << f;
    }
  });
}

TEST(ApplyLinear, GivesTheBiasForZeroColumns) {
  const Layer<float> layer({2, 3, 0});
  OnAllTargets([&] {
    const Guarded<float> plain = layer.Applied(false), biased = layer.Applied();
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(plain[i], 0);
      EXPECT_EQ(biased[i], layer.bias[i % 3]);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
