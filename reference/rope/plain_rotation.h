// The rotation of rows in vectors: the same bits as the formula of rope_rotate for single numbers,
// for rows of inputs and tables without special cases.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "reference/number/counted/counted_numbers.h"
#include "reference/rope/rope_rotate.h"

namespace sextant {

// Pairs of channels for the vectors: arrays of `count` elements.
struct PlainPairs {
  size_t count;
  const double *x_first, *x_second;
  CountedNumbers cos, sin, first, second;
  double* ordinary;  // 0 where a pair is a special case, and its results are wrong
};

// y_i and y_j of a pair of channels, in step rotate.
template <class Real>
std::pair<Real, Real> RotatedPair(const Real& x_i, const Real& x_j,
                                  const std::pair<Real, Real>& cos_sin) {
  const auto& [c, s] = cos_sin;
  return {x_i * c - x_j * s, x_i * s + x_j * c};
}

// One row of a table, prepared for many rows of x. Step rotate must be the current step.
class PlainRotation {
 public:
  // cos, sin  [R/2]  must outlive this object
  PlainRotation(std::span<const Counted> cos, std::span<const Counted> sin);

  // Rotates the pairs of a window: x, y [R]. Returns false, and writes nothing, unless x are exact
  // values of the format of the step, the table has no exact numbers, and the step rounds.
  bool operator()(Pairing pairing, std::span<const Counted> x, std::span<Counted> y);

 private:
  std::span<const Counted> cos_, sin_;
  bool plain_;
  StepRule rule_;
  CountedArrays table_cos_, table_sin_, first_, second_;  // of R/2 pairs
  std::vector<double> x_;         // [R]: the first channel of each pair, then the second
  std::vector<double> ordinary_;  // [R/2]
};

}  // namespace sextant
