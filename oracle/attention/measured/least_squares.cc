#include "oracle/attention/measured/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::oracle {

void LeastSquares::Add(std::span<const double> a, double b) {
  ++equations_;
  squares_ += b * b;
  for (size_t i = 0; i < n_; ++i) {
    if (a[i] == 0) continue;
    right_[i] += a[i] * b;
    for (size_t j = 0; j <= i; ++j) matrix_[i * n_ + j] += a[i] * a[j];
  }
}

// The sum of the squared residuals is x A x - 2 x b + b^2.
double LeastSquares::RmsOf(const std::vector<double>& x) const {
  if (equations_ <= n_) return 1;
  double sum = squares_;
  for (size_t i = 0; i < n_; ++i) {
    sum += x[i] * (matrix_[i * n_ + i] * x[i] - 2 * right_[i]);
    for (size_t j = 0; j < i; ++j) sum += 2 * x[i] * matrix_[i * n_ + j] * x[j];
  }
  return std::sqrt(std::max(0.0, sum) / static_cast<double>(equations_ - n_));
}

// Cholesky's factor L with L L^T = A. Rows whose pivot is lost in the rounding errors of the sums
// are left out.
LeastSquares::Solution LeastSquares::Solve() const {
  const double lost = static_cast<double>(n_ + 1) * 0x1p-50;
  std::vector<double> L = matrix_, y(n_), x(n_), bar(n_, std::numeric_limits<double>::infinity());
  std::vector<char> known(n_);
  for (size_t i = 0; i < n_; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = matrix_[i * n_ + j];
      for (size_t k = 0; k < j; ++k) sum -= L[i * n_ + k] * L[j * n_ + k];
      if (j < i) {
        L[i * n_ + j] = known[j] ? sum / L[j * n_ + j] : 0;
      } else {
        known[i] = sum > lost * matrix_[i * n_ + i];
        L[i * n_ + i] = known[i] ? std::sqrt(sum) : 1;
      }
    }
  }
  const auto solve = [&](const std::vector<double>& right, std::vector<double>& result) {
    for (size_t i = 0; i < n_; ++i) {
      double sum = right[i];
      for (size_t k = 0; k < i; ++k) sum -= L[i * n_ + k] * y[k];
      y[i] = known[i] ? sum / L[i * n_ + i] : 0;
    }
    for (size_t i = n_; i-- > 0;) {
      double sum = y[i];
      for (size_t k = i + 1; k < n_; ++k) sum -= L[k * n_ + i] * result[k];
      result[i] = known[i] ? sum / L[i * n_ + i] : 0;
    }
  };
  solve(right_, x);
  std::vector<double> unit(n_), column(n_);
  for (size_t i = 0; i < n_; ++i) {
    if (!known[i]) continue;
    unit[i] = 1;
    solve(unit, column);
    bar[i] = std::sqrt(column[i]);
    unit[i] = 0;
  }
  return {x, bar, RmsOf(x)};
}

}  // namespace sextant::oracle
