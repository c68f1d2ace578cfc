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

// What becomes of numbers that are not exact.
enum class Settling {
  kProves,            // centre and drift decide them, or they are undecided
  kProvesOrEncloses,  // centre and drift decide or enclose them
  kEncloses           // they are enclosed
};

// Sets the elements of a run of `count` numbers. What is decided has the radius 0. An enclosed
// element has value, high and low of the centre, and the radius -drift; an undecided one has zeros
// and an infinite radius. Sets left[i] to 1 where element i is left, else to 0. Returns the number
// of undecided elements.
size_t SetGoldens(const CountedNumbers& numbers, size_t count, DType type, Settling settling,
                  const GoldenRun& to, std::span<char> left);

}  // namespace sextant
