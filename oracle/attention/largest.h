// The largest of some scores, in every number type.
#pragma once

#include <algorithm>
#include <span>

#include "reference/attention/softmax_row.h"

namespace sextant::oracle {

// Its index: that of an implementation's numbers. The permitted error of a mutation needs no more
// than some index; NaN is no larger than anything.
template <class Real>
size_t LargestIn(std::span<const Real> scores) {
  if constexpr (std::same_as<Real, Counted>) {
    const auto center = [](const Counted& score) { return score.center().high; };
    return static_cast<size_t>(std::ranges::max_element(scores, {}, center) - scores.begin());
  } else {
    return LargestOf(scores);
  }
}

}  // namespace sextant::oracle
