// The enclosures of levels 2 and 3 of the same elements, for tests of the ladder.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/case/draw.h"
#include "reference/number/exact/interval.h"
#include "reference/prove/case_slices.h"

namespace sextant {

// Calls visit(output, i, counted, exact) for every element that level 2 encloses: `counted` has a
// finite drift and a centre in the range of double-double. `exact` is its enclosure with `bits`
// bits. Returns false, without a call, if a floor is uncertain. Throws Undecided if the bits do not
// decide a comparison of the formula.
template <class Visit>
bool ForEachEnclosure(const Case& c, const Recipe& recipe, int bits, Visit visit) {
  const Tensors inputs = DrawInputs(c);
  const Evaluation evaluation{c, inputs, recipe};
  const ScopedRecipe following(recipe, c.dtype());
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  const auto counted = Evaluated<Counted>(evaluation, {});
  if (this_context.uncertain) return false;
  const ScopedPrecision precision(bits);
  const auto exact = Evaluated<Interval>(evaluation, {});
  for (size_t o = 0; o < exact.size(); ++o) {
    for (size_t i = 0; i < exact[o].values.data.size(); ++i) {
      const Counted& y = counted[o].values.data[i];
      const Interval& x = exact[o].values.data[i];
      const bool in_range = y.IsZero() || (std::abs(y.center().high) > 0x1p-900 &&
                                           std::abs(y.center().high) < 0x1p900);
      if (x.IsSpecified() && in_range && std::isfinite(y.drift())) visit(o, i, y, x);
    }
  }
  return true;
}

// A lower bound of |x - high - low|, for the exact number x that the interval encloses: the
// distance of its farther end, less its width (x - x reaches as far). Both are rounded up.
inline double LeastDistance(const Interval& x, double high, double low) {
  const double width = RadiusAround(x - x, 0, 0);
  return std::max(0.0, RadiusAround(x, high, low) * (1 - 0x1p-50) - width);
}

}  // namespace sextant
