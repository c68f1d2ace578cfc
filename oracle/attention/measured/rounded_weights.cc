#include "oracle/attention/measured/rounded_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/attention/measured/score_fit.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// So many weights must have few bits: each by accident with a chance of 1/2 at most.
constexpr size_t kFewestWeights = 32;

// Whether x is a number of the format but for `error`, and whether other numbers are not.
struct Says {
  bool agrees, tells;
};
Says SaysOf(double x, double error, const FewBits& format) {
  return {std::abs(x - format.Nearest(x)) <= error, 4 * error <= format.UnitAt(x)};
}

bool HaveFormat(const PlainAttention& plain, const AskedWeights& weights, double unit,
                const FewBits& format) {
  const AttentionSizes& n = plain.sizes();
  size_t telling = 0;
  for (size_t h = 0; h < n.H; ++h) {
    for (const size_t row : SampledRows(n, h)) {
      const auto weight = weights.RowOf(row);
      const double largest = std::ranges::max(weight);
      if (!(largest > 0)) continue;
      for (const double one : weight) {
        if (one == largest || one <= 0) continue;
        const auto [agrees, tells] = SaysOf(one / largest, 4 * unit * one / largest, format);
        if (!agrees) return false;
        telling += tells;
      }
    }
  }
  return telling >= kFewestWeights;
}

bool HaveSumOne(const AskedWeights& weights, double unit) {
  const double error = (static_cast<double>(weights.n.T) + 2) * unit;
  return std::ranges::all_of(weights.sums,
                             [&](double sum) { return sum == 0 || std::abs(sum - 1) <= error; });
}

constexpr FewBits kFormats[] = {{2}, kE5M2, {3}, kE4M3, {4}, {5}, {6}, {7}, {8, 0}, {9, 0}};

}  // namespace

std::optional<QueryRule> RoundedWeightsOf(const PlainAttention& plain, const AskedWeights& weights,
                                          DType dtype) {
  const double unit = UnitRoundoffOf(dtype);
  for (const FewBits& format : kFormats) {
    if (!HaveFormat(plain, weights, unit, format)) continue;
    const bool has_right_sum = !HaveSumOne(weights, unit);
    return QueryRule{"weights_rounded",
                     std::string("the weights e^(score - largest) are rounded to ") +
                         format.Text() +
                         (has_right_sum ? ", their sum is not" : ", and so is their sum"),
                     [format, has_right_sum](MeasuredParts& parts) {
                       parts.weight_format = format;
                       parts.has_right_sum = has_right_sum;
                     }};
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
