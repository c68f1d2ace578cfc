#include "oracle/layer/measured/norm_forms.h"

#include <bit>
#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

constexpr size_t kM = 40;

// Layer norm in plain loops of doubles; x is far from 0, so that its mean counts.
struct PlainLayerNorm : MeasuredCase {
  PlainLayerNorm()
      : MeasuredCase("layer_norm N=9 M=40 dtype=f32 @x=normal(2)"),
        x(In("x").data),
        w(In("weight").data),
        b(In("bias").data) {}

  double Mean(size_t n) const {
    double sum = 0;
    for (size_t j = 0; j < kM; ++j) sum += x[n * kM + j];
    return sum / kM;
  }
  double Variance(size_t n, double mean, size_t centered = kM) const {
    double sum = 0;
    for (size_t j = 0; j < kM; ++j) {
      const double term = x[n * kM + j] - (j < centered ? mean : 0);
      sum += term * term;
    }
    return sum / kM;
  }
  std::vector<std::string> If(const std::function<double(size_t n, size_t j)> &y) const {
    return Causes([&](size_t i) { return y(i / kM, i % kM); });
  }

  const std::vector<double> &x, &w, &b;
};

TEST(NormForms, NameABiasBeforeTheDivision) {
  const PlainLayerNorm rows;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n), root = std::sqrt(rows.Variance(n, mean) + 1e-5);
    return (rows.x[n * kM + j] - mean + rows.b[j]) / root * rows.w[j];
  }),
              ElementsAre(StartsWith("bias_before_division: ")));
}

TEST(NormForms, NameColumnsThatKeepTheirMean) {
  const PlainLayerNorm rows;
  for (const bool in_root : {false, true}) {
    EXPECT_THAT(rows.If([&](size_t n, size_t j) {
      const double mean = rows.Mean(n);
      const double root = std::sqrt(rows.Variance(n, mean, in_root ? 32 : kM) + 1e-5);
      return (rows.x[n * kM + j] - (j < 32 ? mean : 0)) / root * rows.w[j] + rows.b[j];
    }),
                ElementsAre(AllOf(StartsWith("mean_kept: the mean is not subtracted in the columns "
                                             "from 32 on"),
                                  HasSubstr(in_root ? "and not for their squares"
                                                    : "though the divisor is the right one"))));
  }
}

TEST(NormForms, NameAMeanInF16) {
  const PlainLayerNorm rows;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = RoundTo(DType::kF16, rows.Mean(n));
    const double root = std::sqrt(rows.Variance(n, mean) + 1e-5);
    return (rows.x[n * kM + j] - mean) / root * rows.w[j] + rows.b[j];
  }),
              Contains("mean_in_f16: the mean is rounded to f16"));
}

TEST(NormForms, NamePaddingThatIsCentered) {
  const PlainLayerNorm rows;
  EXPECT_THAT(rows.If([&](size_t n, size_t j) {
    const double mean = rows.Mean(n);
    const double root = std::sqrt(rows.Variance(n, mean) + 24 * mean * mean / kM + 1e-5);
    return (rows.x[n * kM + j] - mean) / root * rows.w[j] + rows.b[j];
  }),
              ElementsAre(AllOf(StartsWith("padding_centered: "), HasSubstr("pad a row to 64"))));
}

TEST(NormForms, NameFormsOfTheRoot) {
  const MeasuredCase rows("rms_norm N=9 M=40 dtype=f32");
  const auto &x = rows.In("x").data, &w = rows.In("weight").data;
  const auto if_inverse = [&](double (*inverse)(double square)) {
    return rows.Causes([&](size_t i) {
      double square = 0;
      for (size_t j = 0; j < kM; ++j) square += x[i / kM * kM + j] * x[i / kM * kM + j];
      return x[i] * inverse(square / kM) * w[i % kM];
    });
  };
  EXPECT_THAT(if_inverse([](double square) {
                const auto v = static_cast<float>(square + 1e-5);
                const double y = std::bit_cast<float>(0x5f3759df - (std::bit_cast<int>(v) >> 1));
                return y * (1.5 - 0.5 * v * y * y);
              }),
              ElementsAre(StartsWith("fast_inverse_root: ")));
}

TEST(NormForms, NameEpsThatIsAddedTwice) {
  const MeasuredCase rows("rms_norm N=9 M=40 dtype=f32 @x=normal(0.003)");
  const auto &x = rows.In("x").data, &w = rows.In("weight").data;
  EXPECT_THAT(rows.Causes([&](size_t i) {
    double square = 0;
    for (size_t j = 0; j < kM; ++j) square += x[i / kM * kM + j] * x[i / kM * kM + j];
    return x[i] / (std::sqrt(square / kM + 1e-5) + 1e-5) * w[i % kM];
  }),
              Contains(StartsWith("eps_twice: ")));
  EXPECT_THAT(
      rows.Causes([&](size_t i) { return x[i] / std::sqrt(1e-5) * w[i % kM]; }),
      Contains(StartsWith("square_missing: every row is divided by the root of eps alone")));
}

}  // namespace
}  // namespace sextant::oracle
