// A row divided by its root mean square, for every number type: shared by rms_norm and layer_norm.
//   x_j / r(x) w_j,  r(x) = sqrt(mean_k x_k^2 + eps)
// Steps: square, sum, rsqrt (division by the count, + eps, the root and its reciprocal), scale and
// weigh.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "reference/layer/centered_row.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/real.h"

namespace sextant {

// r(x)^2. The row must not be empty; eps has the unit of x^2.
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

// In fewer operations where all x are exact.
template <>
Counted MeanSquare(std::span<const Counted> x, const Counted& eps);

// The same from the sum of the `count` squares.
Counted MeanSquareOf(const CountedSum& squares, size_t count, const Counted& eps);

template <class Real>
class NormedRow {
 public:
  // x must outlive this object.
  NormedRow(std::span<const Real> x, const Real& eps) : x_(x), scale_(MeanSquare(x, eps)) {}
  Real operator()(size_t j, const Real& w) const { return scale_(x_[j], w); }
  // All elements: weight, y [M].
  void Weigh(std::span<const Real> weight, std::span<Real> y) const {
    for (size_t j = 0; j < y.size(); ++j) y[j] = (*this)(j, weight[j]);
  }

 private:
  std::span<const Real> x_;
  RowScale<Real> scale_;
};

// Error bound of a normed row. Running error analysis does not use the fact that a row is divided
// by its own root: where the errors of x are nearly as large as x, its mean square may be
// arbitrarily close to 0, and its quotient is unbounded. This class uses a bound in closed form.
// Let |x'_k - x_k| <= e_k for all k, r = r(x) and r' = r(x').
// - r is the length of the vector (x_k / sqrt n, sqrt eps), so |r' - r| <= sqrt(mean_k e_k^2).
//   r'^2 - r^2 gives a second bound: |r' - r| <= mean_k (2 |x_k| + e_k) e_k / (r + r'). Let d be
//   the smaller of the two, and m = max(sqrt(eps), r - d). Then r' >= m, and
//     |x'_j / r' - x_j / r| <= (e_j + |x_j| / r |r' - r|) / m.
// - For errors of any size, |x'_j| <= sqrt(n) r', so the same difference is at most
//   sqrt(n) + |x_j| / r.
// - The mean square of x' has only terms >= 0. So each rounding is an error relative to r'^2, and
//   relative to the quotient. The bound has a factor (1 + u) for each of: the square and its
//   conversion; the four operations of step rsqrt (division, addition of eps, root, reciprocal) and
//   their conversions; two conversions and the product in step scale. It has another factor for the
//   relative error of the sum. The absolute error of underflow in the mean square is divided by
//   m^2.
// The permitted error is the smaller of this bound and the running bound. It is the running bound
// alone where a square, eps or the count may overflow, or where r' may be 0.
template <>
class NormedRow<Counted> {
 public:
  NormedRow(std::span<const Counted> x, const Counted& eps);
  Counted operator()(size_t j, const Counted& w) const;
  void Weigh(std::span<const Counted> weight, std::span<Counted> y) const;

  // The same in arrays, for rows of one length after each other.
  class Weights;
  struct Memory;
  // True if steps square and scale need not convert numbers of that format.
  static bool TakesArrays(const std::optional<DType>& format);
  // Requires TakesArrays. x and the memory must outlive this object.
  NormedRow(const CountedSpan& x, const Counted& eps, Memory& memory);
  NormedRow(const ExactSpan& x, const Counted& eps, Memory& memory);  // finite numbers
  // A row of CenterRow with its sums; memory.size has the sizes.
  NormedRow(const CountedSpan& x, const CenteredSums& sums, const Counted& eps, Memory& memory);
  void Weigh(Weights& weight, const CountedNumbers& y) const;

 private:
  void SetMeanSquare(const Counted& eps);  // of *row_, and what depends on it
  // Sums over the e_k.
  struct ErrorSums {
    double squares = 0, changes = 0;  // changes: of (2 |x_k| + e_k) e_k
  };
  ErrorSums SumErrors() const;
  void SetBounds(const Counted& eps, double largest, const ErrorSums& errors);
  void SetRootErrors(double sum_error, const ErrorSums& errors);
  Counted X(size_t j) const { return row_ ? (*row_)[j] : x_[j]; }
  double ErrorOf(size_t j) const { return row_ ? row_->numbers.error[j] : errors_[j]; }
  Counted Quotient(size_t j) const;
  double QuotientError(size_t j, const Counted& converted) const;
  struct PlainArrays;  // the arrays of a PlainNormedRow
  // Weighs the elements that are no special cases. Sets `ordinary` to 0 for all others.
  void WeighPlain(const PlainArrays& arrays, const CountedNumbers& y) const;
  bool IsPlain() const;  // vectors can compute elements

  std::span<const Counted> x_;
  std::optional<CountedSpan> row_{};  // instead of x_
  Memory* memory_ = nullptr;          // with row_
  size_t count_;
  Counted factor_;
  double eps_root_ = 0, root_ = 0;  // lower bounds of sqrt(eps) and r
  // e_k: of x'_k, converted to the format of step square; empty with row_, whose errors they are.
  std::vector<double> errors_;
  double root_error_ = 0;        // upper bound d of |r' - r|
  double least_root_ = 0;        // lower bound m of r'
  double reciprocal_error_ = 0;  // relative error of the computed 1 / r'
  bool bounded_ = false;         // the closed form holds: no overflow, and r' > 0
};

// The weights of many rows.
class NormedRow<Counted>::Weights {
 public:
  explicit Weights(std::span<const Counted> weights);  // they must outlive this
  explicit Weights(const ExactSpan& weights);          // the same, in less time

 private:
  friend class NormedRow<Counted>;
  Counted operator[](size_t j) const {
    return weights_.empty() ? Counted(exact_.values[j], exact_.type) : weights_[j];
  }
  std::span<const Counted> weights_{};
  ExactSpan exact_{{}, DType::kF64};  // if weights_ is empty
  std::vector<double> ordinary_;      // 0 where a weight is no ordinary factor
  CountedArrays converted_;           // to the format of step weigh
};

// Arrays that rows of M elements use one after the other.
struct NormedRow<Counted>::Memory {
  explicit Memory(size_t M) : squares(M), size(M), ordinary(M), exact(M), zeros(M) {}
  // Numbers without errors.
  CountedSpan Copied(const ExactSpan& row) {
    std::ranges::copy(row.values, exact.begin());
    double* const zero = zeros.data();
    return {{exact.data(), zero, zero, zero, zero}, row.values.size(), row.type};
  }
  CountedArrays squares;
  std::vector<double> size, ordinary;  // |x| with its drift; 0 for a special case
  std::vector<double> exact, zeros;    // of Copied
};

}  // namespace sextant
