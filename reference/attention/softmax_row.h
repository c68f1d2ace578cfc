// Softmax of one row of scores, means weighted by it, and its logarithm, for every number type:
//   weight j = e^(score_j - c) / sum_k e^(score_k - c), c the largest score
//   log of sum = c + ln sum_k e^(score_k - c)
// Steps: softmax (subtraction, exponentials, their sum and its logarithm, division); of a mean,
// weigh (the weights as kept) and dot (their products with the values, and the sum).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "reference/number/real.h"

namespace sextant {

// The index of the largest score, or of one near it where the type cannot tell; NaN is no larger
// than anything.
size_t LargestOf(std::span<const Interval> scores);
size_t LargestOf(std::span<const BoostReal> scores);
size_t LargestOf(std::span<const Rounded> scores);

// Who is permitted what (SoftmaxRow<Counted>): those who go through a row once its largest score is
// known, or those too who go through it in tiles and know only the largest so far.
enum class Tiling { kNone, kAny };

template <class Real>
class SoftmaxRow {
 public:
  explicit SoftmaxRow(std::span<const Real> scores, Tiling = Tiling::kNone);
  const std::vector<Real>& weights() const { return weights_; }

  Real Mean(std::span<const Real> values) const;  // sum_j weight_j value_j
  Real LogOfSum() const;                          // of a row that is not empty

 private:
  static Real Term(const Real& score, const Real& largest);

  std::vector<Real> terms_, weights_;
  Real sum_, largest_;
};

// The same in closed form. Running analysis would forget that the scores of a row are compared with
// each other alone: with exponents off by at most E_j the weight of j lies between
//   p_j e^-E_j / (p_j e^-E_j + sum_{k != j} p_k e^E_k)   and the same with all signs changed,
// and a mean y of values v is off by at most sum_j p_j (e^E_j - 1) |v_j - y| / sum_j p_j e^-E_j:
// what all scores have in common, and what all values have, does not count. The logarithm of the
// sum is off by at most ln sum_j p_j e^E_j upwards and -ln sum_j p_j e^-E_j downwards; there the
// largest score is added again, so that what all scores have in common counts. E_j holds the error
// of the score, the rounding of its difference to the largest, and that of the exponential.
// It covers who subtracts the largest of the scores that it holds, and divides by the sum or
// multiplies by its reciprocal, before or after the mean is taken.
//
// With Tiling::kAny it covers online softmax too (Milakov and Gimelshein 2018, arXiv:1805.02867;
// Dao et al. 2022, arXiv:2205.14135), forwards or backwards, in tiles of any size: the exponentials
// and both sums are relative to the largest score so far, m, and are multiplied by c = e^(m - m')
// whenever it becomes m'. With u the unit roundoff of the step, and r a bound of how often it
// rises:
// - The differences s_j - m_1, m_1 - m_2, ... have one sign and add up to s_j - m, so their
//   roundings are at most u |s_j - m| together. Where exponents are taken to base 2 each score is
//   multiplied by log2 e, which is rounded itself: u (|s_j| + |m|) and u |s_j - m| more.
// - Each c is an exponential, accurate as one is: E_j grows by r times that. It is the same number
//   for both sums, each of which it multiplies with a rounding: r u of the sum of the exponentials,
//   which is an error that all weights have in common, and r u of the sum of the products.
// - The weights that are kept (step weigh) are e^(s_j - m) for any of these m, P_j, not divided
//   yet. Where a power of two lies differs from that of the weight p_j, so each is off by up to u_w
//   of itself, u_w the unit of that step, in place of half an ulp of p_j; what underflows is
//   multiplied by factors that are 1 or less, and divided by a sum that is 1 or more. If the sum is
//   taken of the P_j before they are rounded, sum P_j v_j is off by u_w sum p_j |v_j|. If it is
//   taken after, these are errors of exponents: u_w sum p_j |v_j - y| / (1 - u_w). Charged is what
//   covers both, with max(|v_j|, |v_j - y|). The logarithm is that of the sum before.
// - The division rounds the mean, in place of each weight: u |y| <= u sum p_j |v_j|.
template <>
class SoftmaxRow<Counted> {
 public:
  explicit SoftmaxRow(std::span<const Counted> scores, Tiling tiling = Tiling::kNone);
  const std::vector<Counted>& weights() const { return weights_; }
  Counted Mean(std::span<const Counted> values) const;
  Counted LogOfSum() const;

 private:
  struct Scores;         // softmax_scores.h
  class WeightedMean;    // softmax_mean.h
  struct StoredWeight {  // of a weight as it is multiplied
    double most, error;  // its largest magnitude; what being kept adds to its error
  };
  void SetWeights(const std::vector<DoubleDouble>& terms);
  double SetErrorOfSum(const StepRule& rule);
  void SetErrorsOfWeights(const StepRule& rule, double underflow);
  double ShiftOf(size_t j) const;
  double Rounding(const StepRule& rule, double magnitude) const;
  const std::vector<StoredWeight>& StoredWeights() const;

  std::vector<Counted> weights_;     // centre p_j
  std::vector<double> rise_, fall_;  // e^E_j - 1, 1 - e^-E_j
  std::vector<double> shift_;        // of p_j, by the exponents alone
  std::vector<double> own_;          // what rounding adds to a weight's error, beyond `common`
  double rises_ = 0, falls_ = 0;     // sum p_j rise_j, sum p_j fall_j
  // Relative error that all weights share, that of their sum: the worst, and a likely one.
  double common_ = 0, likely_common_ = 0;
  bool lost_ = false;  // a score may have overflowed: nothing is known
  bool saturated_ = false;
  bool tiled_ = false;
  double raises_ = 0;  // of the largest score so far, at most
  Counted largest_;    // of the centres
  DoubleDouble sum_;   // of the terms
  double drift_ = 0;   // relative, of the terms
  mutable std::vector<StoredWeight> stored_;
};

}  // namespace sextant
