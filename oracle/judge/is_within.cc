#include "oracle/judge/is_within.h"

#include <array>
#include <cmath>

#include "reference/number/double_double/double_double.h"

namespace sextant::oracle {
namespace {

// The sign of the exact sum of finite numbers without overflow: -1, 0 or 1. Adding a number to a
// nonoverlapping expansion by exact sums of two, beginning with its smallest component, gives such
// an expansion again, and its last component that is not 0 has the sign of the sum.
// Source: Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric
// predicates", Discrete Comput. Geom. 18, theorem 10 (Grow-Expansion).
int SignOfSum(const std::array<double, 5>& terms) {
  std::array<double, 5> expansion{};  // component i is 0 or larger than all before it
  for (size_t n = 0; n < terms.size(); ++n) {
    double carry = terms[n];
    for (size_t i = 0; i < n; ++i) {
      const DoubleDouble sum = TwoSum(carry, expansion[i]);
      expansion[i] = sum.low;
      carry = sum.high;
    }
    expansion[n] = carry;
  }
  for (size_t i = expansion.size(); i-- > 0;) {
    if (expansion[i] != 0) return expansion[i] > 0 ? 1 : -1;
  }
  return 0;
}

}  // namespace

// If got - high is rounded, then got is not between high / 2 and 2 high (Sterbenz 1974), so that
// |got - high| >= |high| / 2 >= 2^52 |low|. Either way `error` has a relative error of at most
// 2^-52 + 2^-103, and `bound` of 2^-53; subnormal differences and sums are exact. So only within
// 2^-50 of each other both comparisons need the exact sum.
bool IsWithin(double got, double high, double low, double permitted, double radius) {
  const double error = std::abs((got - high) - low), bound = permitted + radius;
  if (!(std::isfinite(error) && std::isfinite(bound))) return error <= bound;
  if (error <= bound * (1 - 0x1p-50)) return true;
  if (error > bound * (1 + 0x1p-50)) return false;
  const double sign = (got - high) - low < 0 ? -1 : 1;
  return SignOfSum({sign * got, -sign * high, -sign * low, -permitted, -radius}) <= 0;
}

}  // namespace sextant::oracle
