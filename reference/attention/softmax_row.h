// Softmax of one row of scores, weighted means, and log-sum-exp, for every number type:
//   weight j = e^(score_j - c) / sum_k e^(score_k - c), c the largest score
//   log of sum = c + ln sum_k e^(score_k - c)
// Steps: softmax (subtraction, exponentials, their sum and its logarithm, division). For a mean
// also: weigh (storing the weights) and dot (products of weights and values, and their sum).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "reference/number/counted/counted_span.h"
#include "reference/number/real.h"

namespace sextant {

struct ScoreRow;  // softmax_numbers.h

// The index of the largest score; for Interval, of the score with the largest lower bound. NaN is
// never larger than another score.
size_t ArgMax(std::span<const Interval> scores);
size_t ArgMax(std::span<const BoostReal> scores);
size_t ArgMax(std::span<const Rounded> scores);

// Which implementations the bounds of SoftmaxRow<Counted> cover: only those that know the largest
// score before they compute exponentials (kNone), or online (tiled) softmax as well (kAny).
enum class Tiling { kNone, kAny };

// The values of the keys of one head, prepared once for the means of many queries.
template <class Real>
class ValueRows {
 public:
  // `count` rows of equal width, one after the other. The numbers must outlive this object.
  ValueRows(std::span<const Real> numbers, size_t count);
  std::span<const Real> operator[](size_t t) const { return numbers_.subspan(t * width_, width_); }
  // Row t as plain numbers (plain_dot.h), padded with 0 to PlainWidth(); null if one is not plain.
  const float* Plain(size_t t) const { return plain_.empty() ? nullptr : &plain_[t * padded_]; }
  size_t PlainWidth() const { return padded_; }

 private:
  std::span<const Real> numbers_;
  size_t width_, padded_ = 0;
  std::vector<float> plain_;  // of Counted only
};

template <class Real>
class SoftmaxRow {
 public:
  explicit SoftmaxRow(std::span<const Real> scores, Tiling = Tiling::kNone);
  const std::vector<Real>& weights() const { return weights_; }
  const Real& Weight(size_t j) const { return weights_[j]; }

  Real Mean(std::span<const Real> values) const;  // sum_j weight_j value_j
  // The means of the columns of values[keys[j]], the row of weight j. Weights beyond the keys (a
  // sink) have values of 0.
  void Means(const ValueRows<Real>& values, std::span<const size_t> keys, std::span<Real> y) const;
  // The row must not be empty. `sink`: implementations may subtract it instead of the largest
  // score, if it is larger.
  Real LogSumExp(const Real* sink = nullptr) const;

 private:
  static Real Term(const Real& score, const Real& largest);

  std::vector<Real> terms_, weights_;
  Real sum_, largest_;
};

// Error bounds in closed form. Running error analysis does not use the fact that softmax depends on
// differences of scores alone. Let the error of exponent j be at most E_j: the error of the score,
// the rounding of its difference to the largest score, and the error of the exponential.
// - Weight j lies between
//     p_j e^-E_j / (p_j e^-E_j + sum_{k != j} p_k e^E_k)   and the same with all signs changed.
// - The error of a mean y of values v is at most
//     sum_j p_j (e^E_j - 1) |v_j - y| / sum_j p_j e^-E_j.
//   A shift common to all scores, or to all values, does not contribute to it.
// - The error of the logarithm of the sum is at most ln sum_j p_j e^E_j upwards and
//   -ln sum_j p_j e^-E_j downwards. The largest score is added to the logarithm, so a shift common
//   to all scores contributes here.
// The bounds cover implementations that subtract the largest of their own scores, and that divide
// by the sum or multiply by its reciprocal, before or after they compute the mean.
//
// With Tiling::kAny the bounds cover online softmax too (Milakov and Gimelshein 2018,
// arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135), forwards or backwards, in tiles of any
// size. There the exponentials and both sums are relative to the running maximum m, the largest
// score so far. When the running maximum rises from m to m', they are multiplied by c = e^(m - m').
// Let u be the unit roundoff of the step, and r an upper bound of how often the running maximum
// rises.
// - The differences s_j - m_1, m_1 - m_2, ... have the same sign, and their sum is s_j - m. So the
//   sum of their roundings is at most u |s_j - m|. With exponents to base 2, each score is
//   multiplied by log2 e, which is itself rounded: this adds u (|s_j| + |m|) and u |s_j - m|.
// - Each c has the error of an exponential: E_j grows by r times that error. Both sums are
//   multiplied by the same number c, with one rounding each: r u of the sum of the exponentials, an
//   error common to all weights, and r u of the sum of the products.
// - The stored weights (step weigh) are P_j = e^(s_j - m) for any of these m, before the division.
//   P_j is the weight p_j times an unknown factor. So its error is up to u_w P_j, with u_w the unit
//   roundoff of step weigh, instead of half an ulp of p_j. An underflow error is later multiplied
//   by factors <= 1 and divided by a sum >= 1. If the sum is computed from the
//   P_j before they are rounded, the error of sum P_j v_j is u_w sum p_j |v_j|. If it is computed
//   from the rounded P_j, the roundings are errors of exponents: u_w sum p_j |v_j - y| / (1 - u_w).
//   The bound covers both with max(|v_j|, |v_j - y|). The bound of the logarithm assumes the sum of
//   the P_j before rounding.
// - The division rounds the mean instead of each weight: u |y| <= u sum p_j |v_j|.
template <>
class SoftmaxRow<Counted> {
 public:
  explicit SoftmaxRow(std::span<const Counted> scores, Tiling tiling = Tiling::kNone);
  // For SetExact; its memory is used again for the next row.
  SoftmaxRow() = default;
  // The weights of exact and finite scores, and nothing else: the same numbers in less time.
  // Requires TakesExact(scores.type): step softmax need not convert them. `weights`: arrays for the
  // weights, which outlive this.
  void SetExact(const ExactSpan& scores, const CountedNumbers& weights);
  static bool TakesExact(DType type);
  SoftmaxRow(const SoftmaxRow&) = delete;  // weights_ points into weight_arrays_
  SoftmaxRow& operator=(const SoftmaxRow&) = delete;
  std::vector<Counted> weights() const;
  Counted Weight(size_t j) const {  // weights()[j]
    return Counted::Of(CenterOf(j), weights_.drift[j], format_, saturated_)
        .WithError({weights_.error[j], weights_.likely[j]});
  }
  const std::optional<DType>& format() const { return format_; }
  Counted Mean(std::span<const Counted> values) const;
  void Means(const ValueRows<Counted>& values, std::span<const size_t> keys,
             std::span<Counted> y) const;
  Counted LogSumExp(const Counted* sink = nullptr) const;

 private:
  struct Terms {  // centres of exponents, and then of exponentials
    std::vector<double> high, low;
  };
  struct Scores;
  class WeightedMean;
  struct StoredWeights {              // as they are multiplied with values
    std::vector<double> most, error;  // upper bound of the magnitude; the error added by storing it
  };
  // The drift of a centre: infinite if the exponents are not the centres of the scores.
  double Enclosing(double drift) const { return unbounded_ ? kInfinity : drift; }
  DoubleDouble CenterOf(size_t j) const { return {weights_.high[j], weights_.low[j]}; }
  void SetFrom(Scores& scores, const StepRule& rule);
  // Level 1, for scores that are not too far apart; false for others.
  bool SetTermsOfDoubles(const ScoreRow& scores);
  void SetTerms(const ScoreRow& scores);
  void SetExponentials(double drift);
  void SetRise(std::span<const double> errors);
  DoubleDouble Total();
  void SetWeights(bool by_doubles);
  double SetSumError(const StepRule& rule);
  double Rounding(const StepRule& rule, double magnitude) const;
  static double CodeRounding(const StepRule& rule, double magnitude, double largest);
  double FactorRounding(const StepRule& rule, double magnitude) const;
  const StoredWeights& Stored() const;

  CountedArrays weight_arrays_{0};
  CountedNumbers weights_{};  // centre p_j, and its errors
  size_t count_ = 0;
  Terms terms_;
  std::vector<double> exact_, zeros_;   // of SetExact: a copy of the scores; zeros
  bool only_weights_ = false;           // shift_ and rounding_ are not set
  std::optional<DType> format_;         // of the weights
  std::vector<double> rise_, fall_;     // e^E_j - 1, 1 - e^-E_j
  std::vector<double> shift_;           // bound of the change of p_j by errors of exponents
  std::vector<double> rounding_;        // error of weight j by its own roundings, without common_
  double rise_sum_ = 0, fall_sum_ = 0;  // sum p_j rise_j, sum p_j fall_j
  // Relative error common to all weights, from their sum: the worst case, and the likely bound.
  double common_ = 0, likely_common_ = 0;
  bool unbounded_ = false;  // a score may have overflowed: all errors are infinite
  bool saturated_ = false;
  bool tiled_ = false;
  double updates_ = 0;  // r, upper bound of how often the running maximum rises
  Counted largest_;     // the score with the largest center
  DoubleDouble sum_;    // of the exponentials
  // Relative drift of the weights that the scores cause, and that the evaluation itself adds.
  double drift_ = 0, own_drift_ = 0;
  mutable StoredWeights stored_;
};

}  // namespace sextant
