// The logarithm of the sum of a row of SoftmaxRow<Counted>, and its error.
#include <algorithm>
#include <cmath>

#include "reference/attention/softmax_row.h"
#include "reference/attention/softmax_scores.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

// What the error of c + ln sum depends on. It consists of the inherited error of the exact sum, at
// most the largest error of an exponent, and of the errors of the computed sum, of the logarithm
// and of the addition. Implementations with logarithms to base 2 (covered with tiling) also
// multiply both parts by ln 2.
//
// Let c be a sink that is larger than the largest score m by a = c - m, and is subtracted instead.
// Then the exponents s_j - c have up to u (3 a + |m|) more of error: the rounding of the
// difference, and with base 2 those of s_j and of the product, also where s_j = m. The exponential
// of the largest is rounded too; the sum is between e^-a and n, so that underflow errors are up to
// e^a times as large relative to it; and its logarithm is between -a and ln n.
struct LogOfSum {
  const StepRule& rule;
  size_t count;
  bool tiled;
  double updates, inherited;
  double largest, largest_error;  // the magnitude of the largest score
  double logarithm, center;       // of the sum; c + ln sum

  // `above`: how far the number that is subtracted lies above the largest score.
  double ErrorFrom(double above, double sum_error) const {
    if (rule.exact) return inherited * kBoundUp;
    const double unit = UnitRoundoffOf(rule.format);
    double error = inherited, size = largest + largest_error + above;
    if (count > 1 || above > 0) {
      const double least_sum = std::exp(-above) * (1 - 0x1p-40);
      double relative = sum_error + updates * unit +
                        static_cast<double>(count) * rule.ulps * UnderflowErrorOf(rule) / least_sum;
      if (above > 0) {
        error += unit * (3 * above + largest + largest_error);
        relative += rule.ulps * 2 * unit;
      }
      error += relative < 1 ? -Log1pOf(-relative) : kInfinity;
      const double of_sum = std::abs(logarithm - above);
      error += rule.ulps * UlpOf(rule.format, of_sum + error);
      error += RoundingError(rule, std::abs(center) + error, 0);
      size += of_sum;
    }
    return (tiled ? error + 3 * unit * (size + error) : error) * kBoundUp;
  }
};

}  // namespace

Counted SoftmaxRow<Counted>::LogSumExp(const Counted* sink) const {
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const size_t n = count_;
  const DoubleDouble logarithm = n > 1 ? log(sum_) : DoubleDouble();
  const DoubleDouble center = largest_.center() + logarithm;
  const double largest = std::abs(largest_.center().high);
  double drift = largest_.drift();
  if (n > 1) {
    const double size = largest + logarithm.high + 1;
    drift += (drift_ + own_drift_ + size * 40 * kDoubleDoubleUnit) * kBoundUp;
  }
  const double of_exponents = Log1pOf(*std::ranges::max_element(rise_));
  const LogOfSum of{
      .rule = rule,
      .count = n,
      .tiled = tiled_,
      .updates = updates_,
      .inherited = std::min(of_exponents, std::max(Log1pOf(rise_sum_), -Log1pOf(-fall_sum_))),
      .largest = largest,
      .largest_error = largest_.error(),
      .logarithm = logarithm.high,
      .center = center.high};
  double above = 0;
  if (sink) {
    const Counted c = Converted(*sink);
    above = (c.center().high - largest_.center().high) + largest_.error() + c.error() +
            Scores::Slack(c) + Scores::Slack(largest_);
  }
  const auto error = [&](double sum_error) {
    const double own = of.ErrorFrom(0, sum_error);
    return above > 0 ? std::max(own, of.ErrorFrom(above, sum_error)) : own;  // NaN: no number
  };
  const SumError sum = n > 1 && !rule.exact ? RelativeErrorOfSum(rule, n) : SumError();
  return Bounded(Counted::Of(center, Enclosing(drift), FormatOf(rule), saturated_),
                 {error(sum.worst), error(sum.likely)}, unbounded_);
}

}  // namespace sextant
