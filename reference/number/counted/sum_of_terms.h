// Sums of many numbers in double-double, in vectors, with the same bits on every instruction set.
#pragma once

#include <array>
#include <span>

#include "reference/number/double_double/double_double.h"

namespace sextant {

struct PartialSums {
  static constexpr size_t kCount = 8;
  std::array<double, kCount> high, low, rounding;
};

// The sum of terms high + low: eight partial sums of every eighth term, then these, then the terms
// that are left. Adds the magnitudes of its roundings (Sum, double_double.h) to `rounding`, in at
// most terms + 16 additions.
DoubleDouble SumOfTerms(std::span<const double> high, std::span<const double> low,
                        double& rounding);

}  // namespace sextant
