// The sums of asked weights, and rules for the terms that they have beside those of the keys.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/attention/measured/sum_fit.h"
#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {

// The scores of a row, as they were fitted.
std::vector<double> FittedScores(const PlainAttention& plain, const ScoreFit& fit, size_t row);

// What is known of the sum of a row, in units of e^(its largest score).
struct WeightSum {
  size_t row, head;
  double sum;                          // of the weights that the subject gives
  double keys;                         // sum of e^(score - largest) over its keys
  double largest;                      // the largest score
  double sink;                         // e^(sink - largest)
  double hidden = 0, hidden_keys = 0;  // the sum of the keys that do not count, and their number
  double lost = 0;                     // of those of them that the mask shows
  std::vector<std::pair<size_t, double>> scores{};  // of those that do: key, score - largest
  double Expected() const { return keys / (keys + sink); }
  double Other() const { return keys / sum - keys; }  // what is in the sum beside the keys
};

class WeightSums {
 public:
  // `parts` has the keys that count.
  WeightSums(const PlainAttention& plain, const AskedWeights& weights, const ScoreFit& fit,
             const MeasuredParts& parts);

  // The mean error of the sums by a rule, relative to 1: `other` is what it adds to the keys. Of
  // one head, or of all.
  using Other = std::function<double(const WeightSum&)>;
  double Distance(const Other& other, double gain = 1) const;
  double DistanceOfHead(size_t head, const Other& other) const;
  double LargestDifference() const;
  // Least squares of count in: other = sink + count * term.
  MeasuredNumber Count(const Other& term) const;
  MeasuredNumber Gain(const Other& other) const;
  // The factor f by which e^(f sink) would be the other terms, of heads whose sinks say it.
  MeasuredNumber FactorOfSinks() const;
  const std::vector<double>& sinks() const { return sinks_; }
  const AttentionSizes& sizes() const { return n_; }
  bool HasSink() const { return !sinks_.empty() && sinks_[0] > -kInfinity; }
  bool IsEmpty() const { return rows_.empty(); }

 private:
  void Add(const AskedWeights& weights, const ScoreFit& fit, const MeasuredParts& parts, size_t row,
           size_t h);

  const PlainAttention& plain_;
  const AttentionSizes n_;
  std::vector<double> sinks_;
  std::vector<WeightSum> rows_;
};

// A rule for the terms beside the keys, and its distance.
struct SumRule {
  SumFit fit;
  double distance = kInfinity;
  std::function<void(MeasuredParts&)> set;  // what deviates
};

// The number in words; `value` is set to it.
std::string NumberOf(const MeasuredNumber& measured, double& value);

// Other sinks than the right ones.
std::vector<SumRule> RulesOfSinks(const WeightSums& sums);

}  // namespace sextant::oracle
