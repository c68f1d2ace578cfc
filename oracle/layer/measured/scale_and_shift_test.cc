#include "oracle/layer/measured/scale_and_shift.h"

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

// A question about a layer norm, and its rows in plain loops.
struct NumberedRows : MeasuredCase {
  explicit NumberedRows(const std::string& line) : MeasuredCase(line), M(In("x").shape[1]) {
    const auto& x = In("x").data;
    for (size_t n = 0; n < In("x").shape[0]; ++n) {
      double sum = 0, squares = 0;
      for (size_t j = 0; j < M; ++j) sum += x[n * M + j];
      for (size_t j = 0; j < M; ++j)
        squares += std::pow(x[n * M + j] - sum / static_cast<double>(M), 2);
      mean.push_back(sum / static_cast<double>(M));
      sigma.push_back(std::sqrt(squares / static_cast<double>(M) + 1e-5));
    }
  }
  // The answer if each row is scaled and shifted by these numbers.
  using OfRow = std::function<double(size_t n)>;
  std::vector<std::string> If(const OfRow& scale, const OfRow& shift) const {
    return Causes([&](size_t i) {
      return (In("x").data[i] * scale(i / M) + shift(i / M)) * In("weight").data[i % M] +
             In("bias").data[i % M];
    });
  }

  size_t M;
  std::vector<double> mean, sigma;
};

// As PyTorch 1.13 on a CPU.
TEST(ScaleAndShift, MomentsInTheDType) {
  for (const DType format : {DType::kBF16, DType::kF16}) {
    const std::string name(NameOf(format));
    const NumberedRows rows("layer_norm N=4 M=64 @x=normal(1) dtype=" + name);
    const auto in = [format](double x) { return RoundTo(format, x); };
    EXPECT_THAT(
        rows.If([&](size_t n) { return in(1 / in(rows.sigma[n])); },
                [&](size_t n) { return in(-in(1 / in(rows.sigma[n])) * in(rows.mean[n])); }),
        Contains(AllOf(StartsWith("moments_in_" + name + ": 1 / sigma and -mean / sigma"),
                       HasSubstr(" in 4 of 4 rows: row "))))
        << name;
  }
}

// Numbers that are as far from the right ones, but of no format of 16 bits, are not said to be.
TEST(ScaleAndShift, OtherNumbersAreNotOf16Bits) {
  const NumberedRows rows("layer_norm N=4 M=64 @x=normal(1) dtype=bf16");
  EXPECT_THAT(rows.If([&](size_t n) { return 1.0037 / rows.sigma[n]; },
                      [&](size_t n) { return -1.0037 * rows.mean[n] / rows.sigma[n]; }),
              Not(Contains(HasSubstr("moments_in"))));
}

TEST(ScaleAndShift, NumbersRoundedBeforeTheirDifference) {
  const NumberedRows rows("layer_norm N=3 M=1 dtype=f32");
  const std::vector<std::string> causes = rows.If([&](size_t n) { return 1 / rows.sigma[n]; },
                                                  [&](size_t n) {
                                                    const double x = rows.mean[n] / rows.sigma[n];
                                                    return -RoundTo(DType::kF32, x);
                                                  });
  EXPECT_THAT(causes, ElementsAre(StartsWith("rounded_before_difference: the errors, up to ")));
}

TEST(ScaleAndShift, HonestRowsAreNotAccused) {
  ExpectNoAccusation({"layer_norm N=4 M=64", "layer_norm N=3 M=1", "layer_norm N=6 M=9"},
                     {"native", "f32_compute", "all_native", "native center=bf16",
                      "native rsqrt=bf16", "native scale=bf16 weigh=bf16", "native sum=bf16"});
}

}  // namespace
}  // namespace sextant::oracle
