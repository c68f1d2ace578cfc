// The mean of values that a SoftmaxRow<Counted> weighs, and the errors that implementations may
// commit, source by source. With weights p~ of exponents that are off, and w' as an implementation
// keeps them,
//   sum w' v' - sum p v = sum (w' - p~) v' + sum p~ (v' - v) + sum (p~ - p) v,
// and the last is sum p_j (e^D_j - 1) (v_j - y) / sum p_j e^D_j for exponents off by D_j, |D| <= E;
// or less than the range of the values.
#pragma once

#include <span>
#include <vector>

#include "reference/attention/softmax_row.h"

namespace sextant {

class SoftmaxRow<Counted>::WeightedMean {
 public:
  // In the step of the products, of a row that is not empty.
  WeightedMean(const SoftmaxRow& row, const std::vector<StoredWeight>& kept,
               std::span<const Counted> values);
  Counted Result() const;

 private:
  // Errors of the scores: sum (p~ - p) v.
  struct ErrorOfScores {
    double error;    // at most `range`
    double range;    // of the values
    double largest;  // of their magnitudes
    bool whole;      // nothing less than the range is known
  };
  // Roundings of the weights, as they are computed and as they are kept: sum (w' - p~) v'.
  struct ErrorOfWeights {
    double error = 0;
    double moved = 0;  // sum |w' - p~| of what keeping adds
  };
  // Roundings of the products.
  struct ErrorOfProducts {
    double error = 0;
    double size = 0;  // of all products, their errors included
  };
  ErrorOfScores OfScores(double drift) const;
  double OfValues() const;  // errors of the values: sum p~ (v' - v)
  ErrorOfWeights OfWeights() const;
  ErrorOfProducts OfProducts() const;
  double Drift() const;
  // The additions and what all weights share, for sums off by that part of their size.
  double Total(const ErrorOfScores& scores, const ErrorOfWeights& weights,
               const ErrorOfProducts& products, double of_sum, double common) const;

  double Magnitude(size_t j) const { return values_[j].Magnitude() + values_[j].error_; }
  // |v_j - y|
  double Distance(size_t j) const;
  double Unit() const;

  const SoftmaxRow& row_;
  const std::vector<StoredWeight>& stored_;
  const StepRule& rule_;
  std::vector<Counted> values_;  // converted
  Counted centre_;               // the mean without its errors
};

}  // namespace sextant
