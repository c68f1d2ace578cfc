#include "oracle/rope/measured/layout.h"

#include <array>
#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

TEST(MeasuredLayout, NamesLayouts) {
  using C = std::pair<size_t, size_t>;
  ExpectNamed({.channels = [](size_t k, size_t) { return C(2 * k, 2 * k + 1); }},
              "pairing_interleaved");
  ExpectNamed({.channels = [](size_t k, size_t R) { return C(R / 2 + k, k); }}, "turns_backwards");
  ExpectNamed({.channels = [](size_t k, size_t) { return C(k, 32 + (k + 3) % 32); }},
              "paired_with_another_pair (pair k is channels (0 + k, 32 + ((k + 3) mod 32))");
  ExpectNamed({.R = 48}, "rotary_width (pair k is channels (0 + k, 24 + k), k < 24");
  ExpectNamed(
      {.channels = [](size_t k, size_t R) { return C(64 - R + k, 64 - R / 2 + k); }, .R = 32},
      "channels (32 + k, 48 + k), k < 16");
}

// Interleaved instead of half pairs, with given tables, backwards.
TEST(MeasuredLayout, NamesTheLayoutOfARotationByTables) {
  for (const std::string dtype : kDTypes) {
    const DrawnCase question("rope_rotate pairing=half H=3 S=5 D=8" + dtype);
    Tensor<double> y = question.inputs[0].values;
    const std::vector<double>&cos = question.inputs[1].values.data,
          &sin = question.inputs[2].values.data;
    for (size_t i = 0; i < y.data.size(); i += 2) {
      const size_t row = i / 8 % 5 * 4 + i % 8 / 2;
      const double u = y.data[i], v = y.data[i + 1];
      y.data[i] = RoundTo(question.c.dtype(), u * cos[row] + v * sin[row]);
      y.data[i + 1] = RoundTo(question.c.dtype(), v * cos[row] - u * sin[row]);
    }
    EXPECT_THAT(Explained(question, {{"y", question.c.dtype(), y}}),
                Contains(HasSubstr("pairing_interleaved+turns_backwards")));
  }
}

// Three heads: the first and the last are even.
TEST(MeasuredLayout, NamesHeadsThatTurnBackwards) {
  for (const char* dtype : kDTypes) {
    const DrawnCase question(std::string("rope pairing=half H=3 S=30 D=32") + dtype);
    Tensor<double> x = question.inputs[0].values, y = x;
    for (size_t i = 0; i < y.data.size(); i += 32) {
      const double direction = i / 32 / 30 % 2 == 1 ? -1 : 1;
      for (size_t k = 0; k < 16; ++k) {
        const double a = direction * static_cast<double>(i / 32 % 30 / 4 * 4) *
                         std::pow(10000.0, -static_cast<double>(k) / 16);
        const double u = x.data[i + k], v = x.data[i + k + 16];
        y.data[i + k] = RoundTo(question.c.dtype(), u * std::cos(a) - v * std::sin(a));
        y.data[i + k + 16] = RoundTo(question.c.dtype(), u * std::sin(a) + v * std::cos(a));
      }
    }
    EXPECT_THAT(Explained(question, {{"y", question.c.dtype(), y}}),
                Contains(StartsWith(
                    "some_heads_turn_backwards+position_of_block (odd heads turn "
                    "in the other direction; positions are rounded down to multiples of 4")));
  }
}

TEST(MeasuredLayout, NamesGains) {
  ExpectNamed({.gain = 1.25}, "gain (every pair is multiplied by 1.25");
}

// y = M x for each pair, with any matrix [[a, b], [c, d]] of cos and sin.
using Matrix = std::array<long double, 4>;
void ExpectMatrixNamed(const std::function<Matrix(long double c, long double s)>& matrix,
                       bool in_place, const std::string& text) {
  for (const char* dtype : kDTypes) {
    const DrawnCase question(kLong + dtype);
    Tensor<double> y = question.inputs[0].values;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t D = 64, S = 30, k = i % D;
      if (k >= D / 2) continue;
      const long double p = question.inputs[1].values.data[i / D % S],
                        a = p * std::pow(10000.0L, -2.0L * k / D);
      const auto [ii, ij, ji, jj] = matrix(std::cos(a), std::sin(a));
      const long double u = y.data[i], v = y.data[i + D / 2];
      y.data[i] = RoundTo(question.c.dtype(), static_cast<double>(ii * u + ij * v));
      y.data[i + D / 2] = RoundTo(question.c.dtype(),
                                  static_cast<double>(ji * (in_place ? y.data[i] : u) + jj * v));
    }
    EXPECT_THAT(Explained(question, {{"y", question.c.dtype(), y}}), Contains(HasSubstr(text)))
        << dtype;
  }
}

TEST(MeasuredLayout, NamesOtherSums) {
  using R = long double;
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{c, -s, s, c};
      },
      true, "rotates_in_place (the rotation is in place");
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{c, -s, s, -c};
      },
      false, "y_j = x_i sin - x_j cos");
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{c, s, s, c};
      },
      false, "y_i = x_i cos + x_j sin, y_j = x_i sin + x_j cos");
  ExpectMatrixNamed(
      [](R c, R) {
        return Matrix{c, 0, 0, c};
      },
      false, "term_missing (the terms with sin are missing");
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{c, 0, s, c};
      },
      false,
      "term_missing (a term is missing: channels (i, j) of a pair become y_i = x_i cos, y_j = x_i "
      "sin + x_j cos");
  ExpectMatrixNamed([](R c, R s) { return Matrix{s, -c, c, s}; }, false, "cos_and_sin_exchanged");
  ExpectMatrixNamed([](R c, R s) { return Matrix{-c, s, -s, -c}; }, false, "both_terms_negated");
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{1 + c, -s, s, 1 + c};
      },
      false, "operand_added (x is added to the rotated channels");
  ExpectMatrixNamed(
      [](R c, R s) {
        return Matrix{R(1.25) * c, -s, s, R(1.25) * c};
      },
      false, "gain_of_cos_and_sin (cos is multiplied by 1.25 and sin by 1 in");
}

}  // namespace
}  // namespace sextant::oracle
