// The numbers of a golden (reference/prove/golden.h) from many Counted, in vectors: the same bits
// as for single numbers. Special cases, and their neighbours in the vector, are left.
#pragma once

#include <cstddef>
#include <span>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// The first element of each tensor of a golden, and of its permitted errors.
struct GoldenRun {
  double *value, *high, *low, *radius, *permitted, *likely;
};

// Sets the elements of a run of `count` numbers. What centre and drift decide has the radius 0.
// Otherwise, if `encloses`, the element is enclosed: value, high and low are of the centre, and the
// radius is -drift; if not, it is open: zeros, an infinite radius. Sets left[i] to 1 where element
// i is left, else to 0. Returns the number of open elements.
size_t SetGoldens(const CountedNumbers& numbers, size_t count, DType type, bool encloses,
                  const GoldenRun& to, std::span<char> left);

}  // namespace sextant
