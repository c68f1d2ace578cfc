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

// The rows or columns whose moments an element gets. Mutation is that of a norm.
template <class Mutation>
size_t NumberOfPopulation(Mutation mutation, size_t n, size_t j) {
  if (mutation == Mutation::kWhole || mutation == Mutation::kFirstRow) return 0;
  return mutation == Mutation::kColumns ? j : n;
}
template <class Mutation, class Real>
std::vector<Real> PopulationOf(Mutation mutation, const Tensor<Real>& x, size_t n, size_t j) {
  const size_t N = x.shape[0], M = x.shape[1];
  const bool all_rows = mutation == Mutation::kWhole || mutation == Mutation::kColumns;
  const size_t first_row = all_rows || mutation == Mutation::kFirstRow ? 0 : n;
  const bool column = mutation == Mutation::kColumns;
  std::vector<Real> all;
  for (size_t row = first_row; row < (all_rows ? N : first_row + 1); ++row) {
    for (size_t i = column ? j : 0; i < (column ? j + 1 : M); ++i) all.push_back(x(row, i));
  }
  return all;
}

// The formula with one mutation.
struct MutatedRmsNorm : RmsNorm {
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
    std::vector<Real> squares;
    for (const Real& value : PopulationOf(mutation, x, n, j)) {
      const ScopedStep at(Step::kSquare);
      squares.push_back(value * value);
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
    std::map<size_t, Real> divisors;  // of populations
    for (size_t n = 0; n < x.shape[0]; ++n) {
      for (size_t j = 0; j < x.shape[1]; ++j) {
        const size_t unit = NumberOfPopulation(mutation, n, j);
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

MutationsOf<MutatedRmsNorm> RmsMutations();

// Defects of operations with an eps, a weight and sums of squares.
// First in a catalog: where no mean square is below eps, a missing eps and an eps that is a lower
// bound give the same answer, and the former is the usual bug.
std::vector<Defect> NormDefects();

}  // namespace sextant::oracle
