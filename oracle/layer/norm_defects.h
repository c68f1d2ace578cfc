// Defects of row normalisations, with and without a residual.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "reference/case/operation.h"
#include "reference/layer/rms_norm.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// The formula with one mutation.
struct RmsNormMutant : RmsNorm {
  static constexpr double kLargest = 0x1p127;  // upper bound of mean squares, near the largest f32
  enum class Mutation {
    kNone,
    kEpsOutside,      // x / (rms + eps)
    kSum,             // the sum instead of the mean
    kPadded,          // divided by the width of a whole vector of 16
    kUnbiased,        // divided by M - 1
    kSquareOfRoot,    // x / (mean square + eps)
    kMeanSubtracted,  // layer norm without its bias
    kVariance,        // x / sqrt(variance + eps)
    kEpsAsFloor,      // x / sqrt(max(mean square, eps))
    kWeightAdded,     // x / rms + w
    kColumns,         // the mean runs down the columns
    kFirstRow,        // every row has the mean of the first one
    kWhole            // one mean for all rows
  } mutation{};

  // The divisor of x(n, j).
  template <class Real>
  Real Divisor(const Tensor<Real>& x, size_t n, size_t j) const {
    const size_t N = x.shape[0], M = x.shape[1];
    std::vector<Real> squares;
    for (size_t row = 0; row < N; ++row) {
      for (size_t column = 0; column < M; ++column) {
        const bool counts = mutation == Mutation::kWhole      ? true
                            : mutation == Mutation::kColumns  ? column == j
                            : mutation == Mutation::kFirstRow ? row == 0
                                                              : row == n;
        if (!counts) continue;
        const ScopedStep at(Step::kSquare);
        squares.push_back(x(row, column) * x(row, column));
      }
    }
    Real sum;
    {
      const ScopedStep at(Step::kSum);
      sum = SumOf(squares);
    }
    const ScopedStep at(Step::kRsqrt);
    const Real mean = sum / Real(Count(squares.size()));
    if (mutation == Mutation::kEpsOutside) return Sqrt(mean) + Real(eps);
    if (mutation == Mutation::kSquareOfRoot) return mean + Real(eps);
    if (mutation == Mutation::kEpsAsFloor) return Sqrt(Clamp(mean, Real(eps), Real(kLargest)));
    return Sqrt(mean + Real(eps));
  }
  double Count(size_t terms) const {
    if (mutation == Mutation::kSum) return 1;
    if (mutation == Mutation::kPadded) return static_cast<double>((terms + 15) / 16 * 16);
    if (mutation == Mutation::kUnbiased) return std::max(1.0, static_cast<double>(terms) - 1);
    return static_cast<double>(terms);
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    Tensor<Real> from = x;
    if (mutation == Mutation::kMeanSubtracted || mutation == Mutation::kVariance) {
      const ScopedStep at(Step::kSum);
      for (size_t n = 0; n < x.shape[0]; ++n) {
        const auto row = x.data.begin() + static_cast<ptrdiff_t>(n * x.shape[1]);
        const std::vector<Real> terms(row, row + static_cast<ptrdiff_t>(x.shape[1]));
        const Real mean = SumOf(terms) / Real(static_cast<double>(terms.size()));
        for (size_t j = 0; j < x.shape[1]; ++j) from(n, j) = x(n, j) - mean;
      }
    }
    std::map<size_t, Real> divisors;  // one per row, or per column
    for (size_t n = 0; n < x.shape[0]; ++n) {
      for (size_t j = 0; j < x.shape[1]; ++j) {
        const size_t unit = mutation == Mutation::kColumns ? j : n;
        if (!divisors.contains(unit)) divisors.emplace(unit, Divisor(from, n, j));
        const Real& above = mutation == Mutation::kVariance ? x(n, j) : from(n, j);
        Real scaled;
        {
          const ScopedStep at(Step::kScale);
          scaled = above / divisors.at(unit);
        }
        const ScopedStep at(Step::kWeigh);
        const Real factor = unit_offset ? Real(1.0) + weight(j) : weight(j);
        y(n, j) = mutation == Mutation::kWeightAdded ? scaled + factor : scaled * factor;
      }
    }
  }
};

MutationsOf<RmsNormMutant> RmsMutations();

// Defects of operations with an eps, a weight and sums of squares.
std::vector<Defect> NormDefects();

}  // namespace sextant::oracle
