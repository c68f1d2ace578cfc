// What SoftmaxRow<Counted> knows of the scores of a row: how far from the largest of them an
// implementation may see each.
#pragma once

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <vector>

#include "reference/attention/softmax_row.h"
#include "reference/number/rounding_units.h"

namespace sextant {

struct SoftmaxRow<Counted>::Scores {
  std::vector<Counted> scores;  // converted
  Counted largest;              // of the centres
  double most = -kInfinity;     // no implementation's largest score is above
  bool exact = true;            // all are free of error, so everyone knows the largest

  explicit Scores(std::span<const Counted> of) {
    for (const Counted& score : of) {
      scores.push_back(Converted(score));
      const Counted& s = scores.back();
      if (scores.size() == 1 || largest.center_ < s.center_) largest = s;
      most = std::max(most, s.center_.high + Slack(s) + s.error_);
      exact = exact && s.IsExact();
    }
  }
  static double Slack(const Counted& s) { return std::abs(s.center_.high) * 0x1p-50 + s.drift_; }

  DoubleDouble ExponentOf(size_t j) const { return scores[j].center_ - largest.center_; }
  // |score - largest|, of every implementation.
  double Reach(size_t j) const {
    const Counted& s = scores[j];
    return std::max(0.0, most + s.error_ + Slack(s) - s.center_.high) + std::abs(most) * 0x1p-50;
  }
  bool IsExactIn(DType format, size_t j) const {
    const DoubleDouble exponent = ExponentOf(j);
    return exact && scores[j].center_.low == 0 && largest.center_.low == 0 && exponent.low == 0 &&
           IsRepresentable(format, exponent.high);
  }
  // Of the difference to the largest. To base 2 scores are multiplied by log2 e before or after.
  double RoundingOf(size_t j, const StepRule& rule, bool tiled) const {
    const double reach = Reach(j);
    if (!tiled) return RoundingError(rule, reach, 0);
    const double sizes = 2 * scores[j].Magnitude() + 2 * scores[j].error_ + reach;  // >= |s| + |m|
    return (sizes + 2 * reach) * UnitOf(rule.format) * kBoundUp;
  }
  // Error of the exponent and of its exponential, which counts as one of the exponent.
  double ErrorOf(size_t j, const StepRule& rule, bool tiled, double raises) const {
    double error = scores[j].error_;
    if (rule.exact || scores.size() == 1) return error;
    const bool known = IsExactIn(rule.format, j);
    if (known && ExponentOf(j).high == 0) return error;  // e^0
    if (!known || tiled) error += RoundingOf(j, rule, tiled);
    const double relative = rule.ulps * 2 * UnitOf(rule.format);
    return relative < 1 ? error - (1 + raises) * std::log1p(-relative) : kInfinity;
  }
  // How often the largest score so far may rise, forwards or backwards, the first score included.
  double Raises() const {
    return std::max(RaisesOf(scores), RaisesOf(std::views::reverse(scores)));
  }
  static double RaisesOf(const auto& in_order) {
    double raises = 0, largest = -kInfinity;  // at least so large
    for (const Counted& s : in_order) {
      const double doubt = Slack(s) + s.error_;
      raises += s.center_.high + doubt > largest;
      largest = std::max(largest, s.center_.high - doubt);
    }
    return raises;
  }
};

}  // namespace sextant
