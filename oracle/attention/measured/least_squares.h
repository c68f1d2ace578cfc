// Linear least squares with many equations and few unknowns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::oracle {

// Sums up equations sum_j a_j x_j = b, which have equal errors.
class LeastSquares {
 public:
  explicit LeastSquares(size_t unknowns) : matrix_(unknowns * unknowns), right_(unknowns) {}
  void Add(std::span<const double> a, double b);

  struct Solution {
    std::vector<double> x, bar;  // the standard deviation of x if each equation has that of 1
    double rms = 1;  // that of the equations, from their residuals; 1 without further equations
  };
  // Unknowns that no equation determines are 0, and their bar is infinite.
  Solution Solve() const;

 private:
  size_t equations_ = 0;
  std::vector<double> matrix_, right_;  // of the normal equations; the lower half of the matrix
  double squares_ = 0;                  // sum of b^2
};

}  // namespace sextant::oracle
