// A normalisation of rows with any of the usual deviations, for any number type.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "oracle/diagnosis/number_in.h"
#include "reference/number/clamp.h"
#include "reference/number/real.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// y_j = (x_j - mean) / D(S / count) w_j + bias_j. S is a sum over the population of a row: its own
// elements, or those of other rows.
struct Norm {
  // kAround: the previous row, and the last one for the first. kFirstOfGroup: the first of a group.
  enum class Rows { kOwn, kFirst, kPrevious, kAround, kGroup, kFirstOfGroup };
  enum class Shared { kBoth, kDivisor, kMean };  // what comes from other rows
  // kEpsTimesLargest: eps is multiplied by the largest square of the row. kEpsAlone: D = sqrt(eps).
  enum class Root {
    kEpsInside,
    kEpsOutside,
    kEpsAsFloor,
    kMissing,
    kPower,
    kNoDivisor,
    kEpsTimesLargest,
    kEpsAlone
  };
  // kMagnitudes, kLargest: D is the mean of |x|, or the largest |x|, without a root and eps.
  enum class Summed { kSquares, kMagnitudes, kLargest };
  enum class Weight { kOnce, kIgnored, kTwice, kDivides };
  enum class Bias { kNone, kOnce, kTwice, kSubtracted, kBeforeWeight };

  bool subtracts_mean = false;
  bool sums_centered = false;  // S = sum (x_k - mean)^2 instead of sum x_k^2
  double mean_count = 1;       // the mean is the sum of a row divided by it
  double count = 1;            // S is divided by it, per row of the population
  size_t columns = 0;          // that are summed: the first ones
  bool passes_end = false;     // more than a row has: those of the next row, around the end
  size_t parts = 1;            // of a row, each with its own mean and S
  double eps = 0;
  bool mean_of_all = false;  // the mean is over all columns nevertheless
  Rows rows = Rows::kOwn;
  Shared shared = Shared::kBoth;
  size_t group = 1;  // rows in a group
  Root root = Root::kEpsInside;
  Summed summed = Summed::kSquares;
  double power = 0.5;        // D = (S / count + eps)^power, for kPower
  bool unit_offset = false;  // w = 1 + weight
  double added = 0;          // to the weight, besides that 1
  Weight weight = Weight::kOnce;
  Bias bias = Bias::kNone;
  double factor = 1;    // of y
  int weight_step = 0;  // row n reads the weight from column n times it on, around the end
  bool NeedsLargest() const { return summed == Summed::kLargest || root == Root::kEpsTimesLargest; }
  // True if a row depends on its index, or on other rows.
  bool CountsRows() const { return rows != Rows::kOwn || weight_step != 0 || passes_end; }
  bool operator==(const Norm&) const = default;
};

// The column of the weight that element `at` of [N,M] reads.
inline size_t WeightColumn(const Norm& norm, size_t at, size_t M) {
  const auto width = static_cast<int64_t>(M), column = static_cast<int64_t>(at % M);
  const int64_t by = norm.weight_step * static_cast<int64_t>(at / M % M);
  return static_cast<size_t>((column + by + width) % width);
}

// The rows whose numbers make up the population of row n: [first, last).
inline std::pair<size_t, size_t> PopulationOf(const Norm& norm, size_t n, size_t N) {
  if (norm.rows == Norm::Rows::kOwn) return {n, n + 1};
  if (norm.rows == Norm::Rows::kFirst) return {0, 1};
  const size_t from_one = std::max<size_t>(n, 1);
  if (norm.rows == Norm::Rows::kPrevious) return {from_one - 1, from_one};
  if (norm.rows == Norm::Rows::kAround) return {(n + N - 1) % N, (n + N - 1) % N + 1};
  const size_t first = n / norm.group * norm.group;
  if (norm.rows == Norm::Rows::kFirstOfGroup) return {first, first + 1};
  return {first, std::min(N, first + norm.group)};
}

// Of the population of the mean, and of that of S.
struct Populations {
  std::pair<size_t, size_t> mean, divisor;
};
inline Populations PopulationsOf(const Norm& norm, size_t n, size_t N) {
  const std::pair<size_t, size_t> own{n, n + 1}, other = PopulationOf(norm, n, N);
  return {norm.shared == Norm::Shared::kDivisor ? own : other,
          norm.shared == Norm::Shared::kMean ? own : other};
}

template <class T>
T FactorOf(const Norm& norm, const T& weight) {
  if (norm.weight == Norm::Weight::kIgnored) return T(1.0);
  const double offset = norm.added + (norm.unit_offset ? 1 : 0);
  const T w = offset == 0 ? weight : T(offset) + weight;
  if (norm.weight == Norm::Weight::kTwice) return w * w;
  return norm.weight == Norm::Weight::kDivides ? T(1.0) / w : w;
}

// x[N,M], weight[M], bias[M] or empty -> y[N,M], in the steps of layer_norm.
template <class Real>
class Normalization {
 public:
  Normalization(const Norm& norm, const Tensor<Real>& x, std::span<const Real> weight,
                std::span<const Real> bias)
      : norm_(norm), x_(x), weight_(weight), bias_(bias) {}

  void Write(Tensor<Real>& y) const {
    const size_t width = x_.shape[1] / norm_.parts;
    for (size_t n = 0; n < x_.shape[0]; ++n) {
      for (size_t first = 0; first < x_.shape[1]; first += width) {
        const auto [mean, divisor] = MomentsOf(n, first);
        for (size_t j = first; j < first + width; ++j) {
          y(n, j) = WithBias(Scaled(x_(n, j), mean, divisor), j, WeightAt(n, j));
          if (norm_.factor != 1) y(n, j) = y(n, j) * Real(norm_.factor);
        }
      }
    }
  }

 private:
  struct Moments {
    Real mean, divisor;
  };

  // Of row n, or of its part that begins with the column `first`.
  Moments MomentsOf(size_t n, size_t first) const {
    const auto [of_mean, of_divisor] = PopulationsOf(norm_, n, x_.shape[0]);
    const bool has_mean = norm_.subtracts_mean || norm_.sums_centered;
    const Real mean = has_mean ? MeanOf(of_mean, first) : Real(0.0);
    std::vector<Real> terms = TermsOf(of_divisor, first, norm_.columns);
    if (norm_.sums_centered) {
      // The divisor of another row has the mean of that row.
      const bool is_others = norm_.shared == Norm::Shared::kDivisor;
      const Real center = is_others ? MeanOf(of_divisor, first) : mean;
      const ScopedStep at(Step::kCenter);
      for (Real& term : terms) term = term - center;
    }
    const Real subtracted = norm_.subtracts_mean ? mean : Real(0.0);
    const Real largest = norm_.NeedsLargest() ? LargestOf(terms) : Real(0.0);
    if (norm_.summed == Norm::Summed::kLargest) return {subtracted, largest};
    if (norm_.summed == Norm::Summed::kMagnitudes) {
      for (Real& term : terms) term = Magnitude(term);
      return {subtracted, Sum(terms) / Real(norm_.count)};
    }
    {
      const ScopedStep at(Step::kSquare);
      for (Real& term : terms) term = term * term;
    }
    const Real sum = Sum(terms);
    const ScopedStep at(Step::kRsqrt);
    const auto rows = static_cast<double>(of_divisor.second - of_divisor.first);
    return {subtracted, Divisor(sum / Real(norm_.count * rows), largest)};
  }
  static Real Magnitude(const Real& x) { return IsLess(x, Real(0.0)) ? Real(0.0) - x : x; }
  static Real LargestOf(const std::vector<Real>& terms) {
    Real largest(0.0);
    for (const Real& term : terms) {
      const Real size = Magnitude(term);
      if (IsLess(largest, size)) largest = size;
    }
    return largest;
  }
  std::vector<Real> TermsOf(const std::pair<size_t, size_t>& rows, size_t first,
                            size_t columns) const {
    std::vector<Real> terms;
    for (size_t row = rows.first; row < rows.second; ++row)
      for (size_t j = first; j < first + columns; ++j)
        terms.push_back(x_.data[(row * x_.shape[1] + j) % x_.data.size()]);
    return terms;
  }
  Real MeanOf(const std::pair<size_t, size_t>& rows, size_t first) const {
    const bool of_all = norm_.mean_of_all;
    const Real sum =
        Sum(of_all ? TermsOf(rows, 0, x_.shape[1]) : TermsOf(rows, first, norm_.columns));
    const size_t parts = (rows.second - rows.first) * (of_all ? norm_.parts : 1);
    const ScopedStep at(Step::kCenter);
    return sum / Real(norm_.mean_count * static_cast<double>(parts));
  }
  static Real Sum(const std::vector<Real>& terms) {
    const ScopedStep at(Step::kSum);
    return SumOf(terms);
  }
  Real Divisor(const Real& square, const Real& largest) const {
    if (norm_.root == Norm::Root::kNoDivisor) return Real(1.0);
    constexpr double kLargest = 0x1p127;  // near the largest f32
    const Real eps(norm_.eps);
    if (norm_.root == Norm::Root::kEpsAlone) return Sqrt(eps);
    if (norm_.root == Norm::Root::kEpsTimesLargest) return Sqrt(square + eps * largest * largest);
    if (norm_.root == Norm::Root::kEpsOutside) return Sqrt(square) + eps;
    if (norm_.root == Norm::Root::kEpsAsFloor) return Sqrt(Clamp(square, eps, Real(kLargest)));
    if (norm_.root == Norm::Root::kPower) return Exp(Log(square + eps) * Real(norm_.power));
    return norm_.root == Norm::Root::kMissing ? square + eps : Sqrt(square + eps);
  }
  Real Scaled(Real value, const Real& mean, const Real& divisor) const {
    if (norm_.subtracts_mean) {
      const ScopedStep at(Step::kCenter);
      value = value - mean;
    }
    const ScopedStep at(Step::kScale);
    return value / divisor;
  }
  const Real& WeightAt(size_t n, size_t j) const {
    const size_t M = weight_.size();
    return weight_[WeightColumn(norm_, n * M + j, M)];
  }
  Real WithBias(Real value, size_t j, const Real& weight) const {
    if (norm_.bias == Norm::Bias::kBeforeWeight) {
      const ScopedStep at(Step::kBias);
      value = value + bias_[j];
    }
    {
      const ScopedStep at(Step::kWeigh);
      value = value * FactorOf(norm_, weight);
    }
    if (norm_.bias == Norm::Bias::kNone || norm_.bias == Norm::Bias::kBeforeWeight) return value;
    const ScopedStep at(Step::kBias);
    if (norm_.bias == Norm::Bias::kSubtracted) return value - bias_[j];
    value = value + bias_[j];
    return norm_.bias == Norm::Bias::kTwice ? value + bias_[j] : value;
  }

  const Norm& norm_;
  const Tensor<Real>& x_;
  std::span<const Real> weight_, bias_;
};

}  // namespace sextant::oracle
