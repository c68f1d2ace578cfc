// Pairs of channels that are rotated: by which axis of positions, and how fast.
#pragma once

#include <vector>

#include "oracle/identify/frequency_claims.h"
#include "oracle/identify/growth_claims.h"
#include "oracle/identify/misfit.h"
#include "oracle/rope/measured/numbers.h"
#include "oracle/rope/measured/rows.h"

namespace sextant::oracle {

// The rows of one exchange, and its positions [A][tokens]. Tokens whose answers overflow are left
// out: they say nothing about angles.
struct Rotated {
  RotaryRows rows;
  std::vector<std::vector<double>> position;
};
// Empty if the operation does not rotate (RotationIn).
std::vector<Rotated> RotatedRows(const std::vector<Exchange>& exchanges);

// An axis whose positions explain the angles of a pair, its frequency in radians per position, and
// its gains at the tokens.
struct PairOnAxis {
  size_t axis;
  MeasuredNumber inv_freq;
  std::vector<GainAt> gains;
};

class RotationMeasurer {
 public:
  // `recipe`: of the answers, which rotate.
  RotationMeasurer(const std::vector<Exchange>& exchanges, const std::string& recipe);
  const std::vector<Rotated>& all() const { return all_; }
  size_t axes() const { return all_[0].position.size(); }

  // For each pair, all axes that are possible; empty if one of them does not rotate. The frequency
  // is that of least magnitude up to `most`.
  std::vector<std::vector<PairOnAxis>> Measure(const std::vector<PairOfChannels>& pairs,
                                               long double most);
  // The gain of all pairs that were measured at once; an infinite error bar if they differ.
  MeasuredNumber gain() const;

 private:
  bool FitAll(PairOfChannels pair);
  std::vector<PairOnAxis> PossibleAxes(long double most) const;
  std::vector<GainAt> GainsOn(size_t axis) const;

  const Case& c_;
  Recipe recipe_;
  RotationErrors errors_;
  std::vector<Rotated> all_;
  long double relative_ = 0;   // error of an angle
  std::vector<PairFit> fits_;  // of one pair at all tokens
  LongRange gain_{0};
  long double weight_ = 0, weighted_ = 0;  // of the mean of the gains
};

}  // namespace sextant::oracle
