// Linear least squares with many equations and few unknowns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::oracle {

// Sums up equations sum_j a_j x_j = b, each of which has an error of at most 1.
class LeastSquares {
 public:
  explicit LeastSquares(size_t unknowns) : n_(unknowns), matrix_(unknowns * unknowns), right_(n_) {}
  void Add(std::span<const double> a, double b);

  struct Solution {
    std::vector<double> x, bar;  // the standard deviation if each equation has that of 1
  };
  // Unknowns that no equation determines are 0, and their bar is infinite.
  Solution Solve() const;

 private:
  size_t n_;
  std::vector<double> matrix_, right_;  // of the normal equations
};

}  // namespace sextant::oracle
