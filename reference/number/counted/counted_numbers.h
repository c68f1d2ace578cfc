// The members of many Counted in separate arrays, for vectors (counted_vectors-inl.h), and the
// range in which a format has no special cases.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "reference/number/counted/counted.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {

// The elements of each array belong to one number. Does not own them.
struct CountedNumbers {
  double *high, *low;  // the centre
  double *error, *likely, *drift;
};

// Arrays for `count` numbers.
class CountedArrays {
 public:
  explicit CountedArrays(size_t count) : count_(count), data_(5 * count) {}
  size_t size() const { return count_; }
  CountedNumbers numbers() {
    double* const at = data_.data();
    return {at, at + count_, at + 2 * count_, at + 3 * count_, at + 4 * count_};
  }
  void Set(size_t i, const Counted& x) {
    const CountedNumbers to = numbers();
    to.high[i] = x.center().high;
    to.low[i] = x.center().low;
    to.error[i] = x.error();
    to.likely[i] = x.likely();
    to.drift[i] = x.drift();
  }
  // Number i, which is not saturated.
  Counted Get(size_t i, std::optional<DType> format) {
    const CountedNumbers of = numbers();
    return Counted::Of({of.high[i], of.low[i]}, of.drift[i], format, false)
        .WithError({of.error[i], of.likely[i]});
  }

 private:
  size_t count_;
  std::vector<double> data_;
};

// The binades least .. most of a format in which the error of rounding a number is its binade times
// `half_ulp`.
struct OrdinaryRange {
  explicit OrdinaryRange(const Grid& grid)
      : least(PowerOfTwo(grid.min_exponent + grid.precision)),
        most(PowerOfTwo(grid.max_exponent)),
        half_ulp(PowerOfTwo(-grid.precision)) {}
  // All binades, and no error, if the step is exact.
  explicit OrdinaryRange(const StepRule& rule) {
    if (!rule.exact) *this = OrdinaryRange(GridOf(rule.format));
  }
  double least = 0, most = kInfinity, half_ulp = 0;
};

}  // namespace sextant
