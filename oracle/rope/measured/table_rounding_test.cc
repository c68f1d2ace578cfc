#include "oracle/rope/measured/table_rounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

const std::string kLine =
    "rope pairing=half H=2 D=32 @position=0,1,2,7,100,255..258,511,1000,2047..2050,4096,9000,20000";

// y of channels of pair k that turn by angle(p, frequency), in plain loops; sine(s) is in the place
// of sin, and the rest of row h S + s is that of row rest(h, s).
struct Rotated {
  std::function<double(double p, double f)> angle = [](double p, double f) { return p * f; };
  std::function<double(double sine)> sine = [](double s) { return s; };
  size_t R = 32;
  std::function<size_t(size_t h, size_t s, size_t S)> rest = [](size_t h, size_t s, size_t S) {
    return h * S + s;
  };

  std::vector<std::string> Causes(const std::string& line) const {
    const DrawnCase question(line);
    const Tensor<double>& x = question.inputs[0].values;
    const DType dtype = question.c.dtype();
    const size_t S = x.shape[2], D = x.shape[3], half = R / 2;
    Tensor<double> y = x;
    for (size_t row = 0; row < x.data.size() / D; ++row) {
      for (size_t d = R; d < D; ++d)
        y.data[row * D + d] = x.data[rest(row / S, row % S, S) * D + d];
      for (size_t k = 0; k < half; ++k) {
        const double f = std::pow(10000.0, -static_cast<double>(k) / static_cast<double>(half));
        const double a = angle(question.inputs[1].values.data[row % S], f);
        const double u = x.data[row * D + k], v = x.data[row * D + k + half];
        y.data[row * D + k] = RoundTo(dtype, u * std::cos(a) - v * sine(std::sin(a)));
        y.data[row * D + k + half] = RoundTo(dtype, u * sine(std::sin(a)) + v * std::cos(a));
      }
    }
    return Explained(question, {{"y", dtype, y}});
  }
};

TEST(TableRounding, NamesTheFormatOfAngles) {
  Rotated in_f16;
  in_f16.angle = [](double p, double f) { return RoundTo(DType::kF16, p * f); };
  EXPECT_THAT(in_f16.Causes(kLine), testing::Contains("angles_in_f16 (angles are rounded to f16)"));
  Rotated in_bf16;
  in_bf16.angle = [](double p, double f) {
    return RoundTo(DType::kBF16, RoundTo(DType::kBF16, p) * RoundTo(DType::kBF16, f));
  };
  EXPECT_THAT(in_bf16.Causes(kLine),
              testing::Contains("phases_in_bf16 (positions, frequencies and their products are "
                                "rounded to bf16)"));
}

TEST(TableRounding, NamesOneTableInAnotherFormat) {
  Rotated rotated;
  rotated.sine = [](double s) { return RoundTo(DType::kBF16, s); };
  EXPECT_THAT(rotated.Causes("rope pairing=half H=2 D=32 S=40"),
              testing::Contains("sines_in_bf16 (sin alone is rounded to bf16)"));
}

TEST(TableRounding, NamesAnInexactTurnAndATableOfSines) {
  Rotated reduced;
  reduced.angle = [](double p, double f) { return p * f - std::floor(p * f / 6.28319) * 6.28319; };
  EXPECT_THAT(reduced.Causes(kLine),
              testing::Contains("turn_inexact (angles are reduced by turns of 6.28319)"));
  Rotated tabulated;
  tabulated.angle = [](double p, double f) {
    const double unit = 2 * std::numbers::pi / 1024;
    return std::nearbyint(p * f / unit) * unit;
  };
  EXPECT_THAT(tabulated.Causes(kLine),
              testing::Contains("sine_table (cos and sin are read from a table of 1024 angles in a "
                                "turn: the nearest one)"));
}

TEST(TableRounding, NamesTheRestOfAnotherRow) {
  const std::string line = "rope pairing=half R=24 H=3 D=32 S=9";
  Rotated rotated;
  rotated.R = 24;
  rotated.rest = [](size_t h, size_t, size_t S) { return h * S; };
  EXPECT_THAT(rotated.Causes(line),
              testing::Contains("rest_of_first_token (the channels outside the rotated ones are "
                                "those of the first token)"));
  rotated.rest = [](size_t, size_t s, size_t) { return s; };
  EXPECT_THAT(rotated.Causes(line),
              testing::Contains(testing::HasSubstr("those of the first head")));
  rotated.rest = [](size_t h, size_t s, size_t S) { return h * S + s; };
  EXPECT_THAT(rotated.Causes(line), testing::IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
