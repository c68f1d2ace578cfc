// Ranges of numbers, and the factors that a quotient with an error allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// All numbers from low to high; empty if low > high.
struct Span {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool IsEmpty() const { return !(low <= high); }
  bool Contains(double x) const { return low <= x && x <= high; }
  bool IsBounded() const { return low > -kInfinity && high < kInfinity; }
  double Middle() const { return low / 2 + high / 2; }
  void Intersect(const Span& other) {
    low = std::max(low, other.low);
    high = std::min(high, other.high);
  }
};

// The factors f with |f divisor - value| <= error.
inline Span Quotient(double value, double error, double divisor) {
  if (divisor == 0) return std::abs(value) <= error ? Span{} : Span{1, 0};
  const double a = (value - error) / divisor, b = (value + error) / divisor;
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace sextant::oracle
