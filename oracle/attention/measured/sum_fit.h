// The sum of the weights, and the scores of masked keys, fitted to asked weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/attention/measured/rows.h"
#include "oracle/attention/measured/score_fit.h"

namespace sextant::oracle {

// Masked keys that count have one score, or a number added to their scores.
struct MaskedScore {
  double score = 0;
  bool adds = false;
};
std::optional<MaskedScore> MaskedScoreOf(const PlainAttention& plain, const AskedWeights& weights,
                                         const ScoreFit& fit);

// A sum with other terms than e^score of the keys and e^sink. Sets zeros, increase or gain of
// `parts`, whose keys are measured, or gives other sinks.
struct SumFit {
  std::string name, text;
  std::vector<double> sinks;  // [H]; empty: the right ones
};
std::optional<SumFit> FitSum(const PlainAttention& plain, DType dtype, const AskedWeights& weights,
                             const ScoreFit& fit, MeasuredParts& parts);

}  // namespace sextant::oracle
