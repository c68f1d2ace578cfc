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

#include "reference/attention/mean_sums.h"
#include "reference/attention/softmax_row.h"

namespace sextant {

class SoftmaxRow<Counted>::WeightedMean {
 public:
  // To be constructed and used in step dot; the row must not be empty and must outlive this.
  explicit WeightedMean(const SoftmaxRow& row);

  // The mean of one value for each weight.
  Counted Of(std::span<const Counted> values) const { return From(SumsOf(values)); }
  // The means of the first y.size() columns of plain rows, one row for each weight.
  void OfPlain(std::span<const float* const> rows, size_t width, std::span<Counted> y) const;
  // False if a weight is so small that a plain product could underflow.
  bool TakesPlain() const { return takes_plain_; }

 private:
  // Errors of the scores: sum (p~ - p) v.
  struct ErrorOfScores {
    double error;     // at most `range`
    double range;     // of the values
    double largest;   // magnitude of a value
    bool only_range;  // the range is the only bound
  };
  MeanSums SumsOf(std::span<const Counted> values) const;
  void AddDistances(std::span<const Counted> values, MeanSums& sums) const;
  Counted From(const MeanSums& sums) const;
  ErrorOfScores ScoreErrors(const MeanSums& sums, double drift) const;
  double Unit() const;

  const SoftmaxRow& row_;
  const StepRule& rule_;
  const double count_;
  MeanWeights weights_;
  double storing_ = 0;  // the part of sum |w' - p~| that storing the weights adds
  bool takes_plain_ = true;
};

}  // namespace sextant
