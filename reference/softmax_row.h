// Softmax of one row of scores, and means weighted by it, for every number type:
//   weight j = e^(score_j - c) / sum_k e^(score_k - c), c the largest score
// Steps: softmax (subtraction, exponentials, their sum, division); of a mean, weigh (the weights as
// kept) and dot (their products with the values, and the sum).
#pragma once

#include <span>
#include <vector>

#include "reference/real.h"

namespace sextant {

// The index of the largest score, or of one near it where the type cannot tell; NaN is no larger
// than anything.
size_t LargestOf(std::span<const Interval> scores);
size_t LargestOf(std::span<const Wide> scores);
size_t LargestOf(std::span<const Rounded> scores);

template <class Real>
class SoftmaxRow {
 public:
  explicit SoftmaxRow(std::span<const Real> scores) {
    const InStep at(Step::kSoftmax);
    if (scores.empty()) return;
    const Real& largest = scores[LargestOf(scores)];
    for (const Real& score : scores) terms_.push_back(Term(score, largest));
    sum_ = SumOf(terms_);
    for (const Real& term : terms_) weights_.push_back(term / sum_);
  }
  const std::vector<Real>& weights() const { return weights_; }

  // sum_j weight_j value_j
  Real Mean(std::span<const Real> values) const {
    if constexpr (RealArithmetic<Real>) {
      return weights_.empty() ? Real(0.0) : Dot<Real>(terms_, values) / sum_;
    } else {
      std::vector<Real> kept;
      {
        const InStep at(Step::kWeigh);
        for (const Real& weight : weights_) kept.push_back(Converted(weight));
      }
      return Dot<Real>(kept, values);
    }
  }

 private:
  // The largest score less itself is 0, however wide its enclosure.
  static Real Term(const Real& score, const Real& largest) {
    if constexpr (std::same_as<Real, Interval>) {
      if (&score == &largest && score.IsSpecified()) return Real(1.0);
    }
    return Exp(score - largest);
  }

  std::vector<Real> terms_, weights_;
  Real sum_;
};

// The same in closed form. Running analysis would forget that the scores of a row are compared with
// each other alone: with exponents off by at most E_j the weight of j lies between
//   p_j e^-E_j / (p_j e^-E_j + sum_{k != j} p_k e^E_k)   and the same with all signs changed,
// and a mean y of values v is off by at most sum_j p_j (e^E_j - 1) |v_j - y| / sum_j p_j e^-E_j:
// what all scores have in common, and what all values have, does not count. E_j holds the error of
// the score, the rounding of its difference to the largest, and that of the exponential.
// It covers who subtracts the largest of the scores that it holds, and divides by the sum or
// multiplies by its reciprocal, before or after the mean is taken.
template <>
class SoftmaxRow<Counted> {
 public:
  explicit SoftmaxRow(std::span<const Counted> scores);
  const std::vector<Counted>& weights() const { return weights_; }
  Counted Mean(std::span<const Counted> values) const;

 private:
  struct Range;  // of the exponents
  void SetWeights(const std::vector<DoubleDouble>& terms, double drift);
  double ShiftOf(size_t j) const;

  std::vector<Counted> weights_;     // centre p_j
  std::vector<double> rise_, fall_;  // e^E_j - 1, 1 - e^-E_j
  std::vector<double> shift_;        // of p_j, by the exponents alone
  std::vector<double> own_;          // what rounding adds to a weight's error, beyond `common`
  double rises_ = 0, falls_ = 0;     // sum p_j rise_j, sum p_j fall_j
  double common_ = 0;                // relative error that all weights share: that of their sum
  bool lost_ = false;                // a score may have overflowed: nothing is known
  bool saturated_ = false;
};

}  // namespace sextant
