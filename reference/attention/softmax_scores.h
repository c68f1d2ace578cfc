// The scores of a SoftmaxRow<Counted>: bounds of their differences to the largest score, and errors
// of the exponents.
#pragma once

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <vector>

#include "reference/attention/softmax_row.h"
#include "reference/number/elementary.h"
#include "reference/number/rounding_units.h"

namespace sextant {

struct SoftmaxRow<Counted>::Scores {
  std::vector<Counted> scores;  // converted to the format of step softmax
  Counted largest;              // the score with the largest center
  double most = -kInfinity;     // upper bound of the largest score of every implementation
  bool exact = true;            // no score has an error: all implementations find the same largest

  double unit = 0;         // of the step's format; 0 if the step is exact
  double exponential = 0;  // ln(1 - relative error of an exponential)

  Scores(std::span<const Counted> unconverted, const StepRule& rule) {
    if (!rule.exact) unit = UnitRoundoffOf(rule.format);
    exponential = Log1pOf(-rule.ulps * 2 * unit);
    scores.reserve(unconverted.size());
    for (const Counted& score : unconverted) {
      scores.push_back(Converted(score));
      const Counted& s = scores.back();
      if (scores.size() == 1 || largest.center() < s.center()) largest = s;
      most = std::max(most, s.center().high + Slack(s) + s.error());
      exact = exact && s.IsExact();
    }
  }
  static double Slack(const Counted& s) { return std::abs(s.center().high) * 0x1p-50 + s.drift(); }

  DoubleDouble ExponentOf(size_t j) const { return scores[j].center() - largest.center(); }
  // Upper bound of |score - largest| in every implementation.
  double LargestDifference(size_t j) const {
    const Counted& s = scores[j];
    return std::max(0.0, most + s.error() + Slack(s) - s.center().high) + std::abs(most) * 0x1p-50;
  }
  bool IsExactIn(DType format, size_t j) const {
    const DoubleDouble exponent = ExponentOf(j);
    return exact && scores[j].center().low == 0 && largest.center().low == 0 && exponent.low == 0 &&
           IsRepresentable(format, exponent.high);
  }
  // Rounding of the difference to the largest score. With tiling, it includes the multiplication by
  // log2 e for exponents to base 2, before or after the subtraction.
  double RoundingOf(size_t j, const StepRule& rule, bool tiled) const {
    const double difference = LargestDifference(j);
    if (!tiled) return RoundingError(rule, difference, 0);
    const double magnitudes =  // >= |s| + |m|
        2 * scores[j].Magnitude() + 2 * scores[j].error() + difference;
    return (magnitudes + 2 * difference) * unit * kBoundUp;
  }
  // E_j: the error of the exponent, and the error of its exponential as an error of the exponent.
  double ErrorOf(size_t j, const StepRule& rule, bool tiled, double updates) const {
    double error = scores[j].error();
    if (rule.exact || scores.size() == 1) return error;
    const bool exact_exponent = IsExactIn(rule.format, j);
    if (exact_exponent && ExponentOf(j).high == 0) return error;  // e^0
    if (!exact_exponent || tiled) error += RoundingOf(j, rule, tiled);
    return rule.ulps * 2 * unit < 1 ? error - (1 + updates) * exponential : kInfinity;
  }
  // Upper bound of how often the running maximum rises, forwards or backwards, counting the first
  // score as well.
  double MaximumUpdates() const {
    return std::max(UpdatesOf(scores), UpdatesOf(std::views::reverse(scores)));
  }
  static double UpdatesOf(const auto& in_order) {
    double updates = 0, least_maximum = -kInfinity;  // lower bound of the running maximum
    for (const Counted& s : in_order) {
      const double error = Slack(s) + s.error();
      updates += s.center().high + error > least_maximum;
      least_maximum = std::max(least_maximum, s.center().high - error);
    }
    return updates;
  }
};

}  // namespace sextant
