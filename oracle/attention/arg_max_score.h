// The index of the largest score, in every number type.
#pragma once

#include <algorithm>
#include <span>

#include "reference/attention/softmax_row.h"

namespace sextant::oracle {

// For Counted the index of the largest center: the permitted error of a mutation is right for any
// index. NaN is not larger than any score.
template <class Real>
size_t ArgMaxScore(std::span<const Real> scores) {
  if constexpr (std::same_as<Real, Counted>) {
    const auto center = [](const Counted& score) { return score.center().high; };
    return static_cast<size_t>(std::ranges::max_element(scores, {}, center) - scores.begin());
  } else {
    return ArgMax(scores);
  }
}

}  // namespace sextant::oracle
