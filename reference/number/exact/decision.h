// The numbers of a golden that an enclosure of an exact number decides.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "reference/number/counted/counted.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// x rounded to nearest, ties to even: `value` to `type`, high = RN64(x), and low = x - high to a
// multiple of UnitOfLow(high). `value` is NaN where a type without infinities overflows.
struct Decision {
  double value = 0, high = 0, low = 0;
  bool operator==(const Decision& other) const {
    const bool both_nan = std::isnan(value) && std::isnan(other.value);
    return (value == other.value || both_nan) && high == other.high && low == other.low;
  }
};

// 2^-20 ulp of `high`, and at least the smallest double. |low| is at most 2^19 units. So high + low
// has 73 bits of x: enough to measure the error of a double, and few enough for double-double
// numbers to decide nearly all of them.
double UnitOfLow(double high);

// The decision for a number whose high and low parts are known. `side` is the sign of x - high: it
// decides ties of narrow types, also where low is 0.
Decision MakeDecision(DType type, double high, double low, int side);

// Empty if the enclosure centre +- drift admits two different answers, or if it lies outside of the
// range in which double-double numbers are accurate (double_double.h).
std::optional<Decision> Decide(const Counted& x, DType type);

// The same for each number of a run. `to` has the first element of each tensor of a golden
// (golden.h). What is decided gets the radius 0; what is not gets an infinite radius, and zeros.
// Returns the number of elements that are not decided.
struct DecidedRun {
  double *value, *high, *low, *radius;
};
size_t DecideAll(std::span<const Counted> numbers, DType type, const DecidedRun& to);

}  // namespace sextant
