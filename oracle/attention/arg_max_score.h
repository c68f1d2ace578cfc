// The index of the largest score, in every number type.
#pragma once

#include <algorithm>
#include <array>
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

// The index of the largest of the first `last` scores, if `before` is that of the first `first`.
template <class Real>
size_t ArgMaxScoreUpTo(std::span<const Real> scores, size_t first, size_t last, size_t before) {
  const size_t own = first + ArgMaxScore<Real>(scores.subspan(first, last - first));
  if (first == 0) return own;
  const std::array<Real, 2> both{scores[before], scores[own]};
  return ArgMaxScore<Real>(both) == 0 ? before : own;
}

}  // namespace sextant::oracle
