// A row over its root mean square, for every number type: what rms_norm and layer_norm share.
//   x_j / r(x) w_j,  r(x) = sqrt(mean_k x_k^2 + eps)
// Steps: square, sum, rsqrt (division by the count, + eps, the root and its reciprocal), scale and
// weigh.
#pragma once

#include <span>
#include <vector>

#include "reference/number/real.h"

namespace sextant {

// r(x)^2 of a row that is not empty; eps is in the unit of x^2.
template <class Real>
Real MeanSquare(std::span<const Real> x, const Real& eps) {
  std::vector<Real> squares;
  {
    const ScopedStep at(Step::kSquare);
    for (const Real& value : x) squares.push_back(value * value);
  }
  Real sum;
  {
    const ScopedStep at(Step::kSum);
    sum = SumOf(squares);
  }
  const ScopedStep at(Step::kRsqrt);
  return sum / Real(static_cast<double>(squares.size())) + eps;
}

template <class Real>
class NormedRow {
 public:
  // The numbers must outlive this.
  NormedRow(std::span<const Real> x, const Real& eps) : x_(x), scale_(MeanSquare(x, eps)) {}
  Real operator()(size_t j, const Real& w) const { return scale_(x_[j], w); }

 private:
  std::span<const Real> x_;
  RowScale<Real> scale_;
};

// Running analysis forgets that a row is divided by its own root: where the errors of x come near
// x, the mean square might be anything down to 0, and the quotient anything at all. In closed form,
// with |x'_k - x_k| <= e_k for all k, r = r(x) and r' = r(x'):
// - r is the length of the vector (x_k / sqrt n, sqrt eps), so |r' - r| <= sqrt(mean_k e_k^2); and
//   from r'^2 - r^2, |r' - r| <= mean_k (2 |x_k| + e_k) e_k / (r + r'). So r' >= m, the larger of
//   sqrt(eps) and r less that. Then
//     |x'_j / r' - x_j / r| <= (e_j + |x_j| / r |r' - r|) / m.
// - Whatever the errors are, |x'_j| <= sqrt(n) r', and the same difference is at most
//   sqrt(n) + |x_j| / r.
// - Computed from x', all terms of the mean square are 0 or more, so that roundings are errors
//   relative to r'^2, and to the quotient: (1 + u) each of the square, its conversion, the sum's
//   relative error, four operations of step rsqrt and its conversions, root and reciprocal, and of
//   step scale two conversions and the product. What underflow adds to the mean square counts over
//   m^2.
// Permitted is the smaller of that and of what running analysis says. Where a square, eps
// or the count may overflow, or r' may be 0, it is the latter alone.
template <>
class NormedRow<Counted> {
 public:
  NormedRow(std::span<const Counted> x, const Counted& eps);
  Counted operator()(size_t j, const Counted& w) const;

 private:
  void SetRoot(double sum_error);
  Counted Scaled(size_t j) const;
  double ErrorOf(size_t j, const Counted& read) const;

  std::span<const Counted> x_;
  Counted factor_;
  double eps_root_ = 0, root_ = 0;  // sqrt(eps), r: at least
  std::vector<double> errors_;      // of x' as it is squared
  // Of all x' whose errors are those: |r' - r| at most, the least r', and the relative error of
  // 1 / r' as computed.
  double off_ = 0, least_ = 0, relative_ = 0;
  bool bounded_ = false;  // nothing overflows, and no root is 0
};

}  // namespace sextant
