// The scores of a SoftmaxRow<Counted>: what the bounds of their differences to the largest score,
// and the errors of the exponents, depend on.
#pragma once

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <vector>

#include "reference/attention/softmax_numbers.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

struct SoftmaxRow<Counted>::Scores {
  CountedArrays converted{0};  // to the format of step softmax
  CountedNumbers numbers{};    // these, or other arrays
  Counted largest;             // the score with the largest center
  double most = -kInfinity;    // upper bound of the largest score of every implementation
  bool exact = true;           // no score has an error: all implementations find the same largest
  bool saturated = false;

  // There is at least one score.
  Scores(std::span<const Counted> scores, const StepRule& rule)
      : converted(scores.size()), numbers(converted.numbers()) {
    size_t at = 0;  // of the largest
    for (size_t j = 0; j < scores.size(); ++j) {
      const Counted& given = scores[j];
      const bool keeps =
          rule.exact || (!rule.flushes && given.format() && Contains(rule.format, *given.format()));
      Counted other;
      const Counted& s = keeps ? given : (other = Converted(given));
      converted.Set(j, s);
      if (j == 0 || largest.center() < s.center()) {
        at = j;
        largest = s;
      }
      most = std::max(most, s.center().high + Slack(s) + s.error());
      exact = exact && s.IsExact();
      saturated = saturated || s.saturated();
    }
    largest = Converted(scores[at]);
  }
  // Of scores for which the step needs no conversion. `copy` gets the scores; `zeros` are as many.
  Scores(const ExactSpan& scores, std::span<double> copy, std::span<double> zeros)
      : numbers{copy.data(), zeros.data(), zeros.data(), zeros.data(), zeros.data()} {
    std::ranges::copy(scores.values, copy.begin());
    const double s = RangeOf(scores.values).most;
    largest = Converted(Counted(s, scores.type));
    most = s + std::abs(s) * 0x1p-50;
  }
  static double Slack(const Counted& s) { return std::abs(s.center().high) * 0x1p-50 + s.drift(); }

  // Upper bound of how often the running maximum rises, forwards or backwards, counting the first
  // score as well.
  double MaximumUpdates() {
    const auto forwards = std::views::iota(size_t{0}, converted.size());
    return std::max(UpdatesIn(forwards), UpdatesIn(std::views::reverse(forwards)));
  }
  double UpdatesIn(const auto& order) {
    const CountedNumbers& s = numbers;
    double updates = 0, least_maximum = -kInfinity;  // lower bound of the running maximum
    for (const size_t j : order) {
      const double error = std::abs(s.high[j]) * 0x1p-50 + s.drift[j] + s.error[j];
      updates += s.high[j] + error > least_maximum;
      least_maximum = std::max(least_maximum, s.high[j] - error);
    }
    return updates;
  }
};

}  // namespace sextant
