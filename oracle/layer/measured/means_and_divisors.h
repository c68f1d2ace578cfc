// Numbers of a row that implementations take for its mean or its divisor, for any number type.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/number_in.h"
#include "reference/number/real.h"

namespace sextant::oracle {

// Columns of a row of M, and how often each counts.
struct Subset {
  const char* text;
  size_t (*times)(size_t j, size_t M);
};

// A factor times one number of some columns. Squares are those of x, or of what is left of it
// without its mean: the mean of all columns, or of those columns. Sums are divided by the number of
// those columns, or by M.
struct RowNumber {
  enum class Kind { kZero, kMean, kMedian, kMiddle, kRoot, kRootOfCentered, kMagnitude, kLargest };
  Kind kind = Kind::kZero;
  const Subset* of = nullptr;
  double factor = 1, eps = 0;
  bool by_all = false, own_mean = false;

  std::string Text() const;  // "the mean of the first half of the columns"
  bool operator==(const RowNumber&) const = default;
};
RowNumber MeanOfAll();
// The root of the mean square, or of the variance, of all columns.
RowNumber RootOfAll(bool is_centered, double eps);
// Those that may be subtracted, and those that may divide.
std::vector<RowNumber> PossibleMeans();
std::vector<RowNumber> PossibleDivisors(double eps);

// x: one row. Real is any number type, or double.
template <class Real>
class RowNumberOf {
 public:
  RowNumberOf(const RowNumber& number, std::vector<Real> x) : n_(number), x_(std::move(x)) {}

  Real operator()() const {
    using Kind = RowNumber::Kind;
    if (n_.kind == Kind::kZero) return Real(0.0);
    const Real value = n_.kind == Kind::kMean             ? MeanOf(Chosen())
                       : n_.kind == Kind::kMagnitude      ? MeanOf(Magnitudes(Chosen()))
                       : n_.kind == Kind::kRoot           ? Root(Chosen())
                       : n_.kind == Kind::kRootOfCentered ? Root(Centered())
                       : n_.kind == Kind::kLargest        ? Sorted(Magnitudes(Chosen())).back()
                                                          : Middle();
    return n_.factor == 1 ? value : Real(n_.factor) * value;
  }

 private:
  std::vector<Real> Chosen() const {
    std::vector<Real> chosen;
    for (size_t j = 0; j < x_.size(); ++j)
      chosen.insert(chosen.end(), n_.of->times(j, x_.size()), x_[j]);
    return chosen;
  }
  std::vector<Real> Centered() const {
    std::vector<Real> terms = Chosen();
    const Real mean = Sum(n_.own_mean ? terms : x_) /
                      Real(static_cast<double>(n_.own_mean ? terms.size() : x_.size()));
    for (Real& term : terms) term = term - mean;
    return terms;
  }
  Real MeanOf(const std::vector<Real>& terms) const {
    return Sum(terms) / Real(static_cast<double>(n_.by_all ? x_.size() : terms.size()));
  }
  static Real Sum(const std::vector<Real>& terms) {
    if constexpr (std::same_as<Real, double>) {
      return std::accumulate(terms.begin(), terms.end(), 0.0);
    } else {
      return SumOf(terms);
    }
  }
  Real Root(std::vector<Real> terms) const {
    for (Real& term : terms) term = term * term;
    if constexpr (std::same_as<Real, double>) {
      return std::sqrt(MeanOf(terms) + n_.eps);
    } else {
      return Sqrt(MeanOf(terms) + Real(n_.eps));
    }
  }
  static std::vector<Real> Magnitudes(std::vector<Real> terms) {
    for (Real& term : terms)
      if (NumberIn(term) < 0) term = -term;
    return terms;
  }
  static std::vector<Real> Sorted(std::vector<Real> terms) {
    std::ranges::sort(terms, {}, [](const Real& term) { return NumberIn(term); });
    return terms;
  }
  // The median, or the middle between both ends.
  Real Middle() const {
    const std::vector<Real> terms = Sorted(Chosen());
    const bool is_median = n_.kind == RowNumber::Kind::kMedian;
    const size_t half = terms.size() / 2;
    if (is_median && terms.size() % 2 == 1) return terms[half];
    return Real(0.5) * (is_median ? terms[half - 1] + terms[half] : terms.front() + terms.back());
  }

  const RowNumber& n_;
  std::vector<Real> x_;
};

}  // namespace sextant::oracle
