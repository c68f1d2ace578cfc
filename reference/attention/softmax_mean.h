// The mean of values with the weights of a SoftmaxRow<Counted>, and its error bound, one term per
// source of error. p: exact weights; p~: weights of exponents with errors; w': weights as an
// implementation stores them; v': values with errors. Then
//   sum w' v' - sum p v = sum (w' - p~) v' + sum p~ (v' - v) + sum (p~ - p) v.
// For errors D_j of the exponents, |D_j| <= E_j, the last term is
//   sum p_j (e^D_j - 1) (v_j - y) / sum p_j e^D_j.
// It is also at most the range of the values.
#pragma once

#include <span>
#include <vector>

#include "reference/attention/softmax_row.h"

namespace sextant {

class SoftmaxRow<Counted>::WeightedMean {
 public:
  // To be constructed in step dot; the row must not be empty.
  WeightedMean(const SoftmaxRow& row, const std::vector<StoredWeight>& stored,
               std::span<const Counted> values);
  Counted Result() const;

 private:
  // Errors of the scores: sum (p~ - p) v.
  struct ErrorOfScores {
    double error;     // at most `range`
    double range;     // of the values
    double largest;   // magnitude of a value
    bool only_range;  // the range is the only bound
  };
  // Roundings of the weights when they are computed and when they are stored: sum (w' - p~) v'.
  struct ErrorOfWeights {
    double error = 0;
    double storing = 0;  // the part of sum |w' - p~| that storing adds
  };
  // Roundings of the products.
  struct ErrorOfProducts {
    double error = 0;
    double size = 0;  // upper bound of the sum of |products|, errors included
  };
  ErrorOfScores ScoreErrors(double drift) const;
  double ValueErrors() const;  // errors of the values: sum p~ (v' - v)
  ErrorOfWeights WeightErrors() const;
  ErrorOfProducts ProductErrors() const;
  double Drift() const;
  // The error from all sources. sum_error: relative error of the additions; common: relative error
  // common to all weights.
  double TotalError(const ErrorOfScores& scores, const ErrorOfWeights& weights,
                    const ErrorOfProducts& products, double sum_error, double common) const;

  double Magnitude(size_t j) const { return values_[j].Magnitude() + values_[j].error(); }
  double Distance(size_t j) const;  // |v_j - y|
  double Unit() const;

  const SoftmaxRow& row_;
  const std::vector<StoredWeight>& stored_;
  const StepRule& rule_;
  std::vector<Counted> values_;  // converted to the format of step dot
  DoubleDouble centre_;          // of the mean
  double rounding_ = 0;          // of the sum in it
  bool saturated_ = false;
};

}  // namespace sextant
