// The measured growth: gains of pairs at tokens, and the numbers that give them.
#pragma once

#include <functional>
#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

class GrowthSearch {
 public:
  // `all`: the positions of the growth, of all tokens.
  GrowthSearch(const RotaryFit& fit, const RotaryCandidate& candidate, const Positions& all);

  // True if the growth gives all gains. Its own positions do not count.
  bool Fits(const Growth& growth) const;
  // The gains that multiply the right growth of all pairs and tokens.
  LongRange Gains() const;
  bool IsMissing() const;
  // The values of one number that give all gains, if the others are right.
  LongRange ScaleBases() const;
  LongRange Centers() const;
  LongRange Gammas() const;
  // The powers of the right growth that give the gains of a pair at all tokens.
  LongRange PowersOf(size_t pair) const;
  // The positions that give the gains of all pairs at a token, if the rest is right. `right`: those
  // of all tokens; `token_of` of the measured ones.
  MeasuredPositions PositionsSeen(std::vector<double> right, size_t length,
                                  std::vector<size_t> token_of) const;

  size_t pairs() const { return pairs_; }

 private:
  // The logarithm of the gain of one pair at one token.
  struct LogGain {
    size_t pair, token;
    long double position;
    LongRange log;
  };
  long double Decay(const LogGain& gain) const;
  LongRange CommonOf(const std::function<long double(const LogGain&, long double log)>& of) const;

  Growth right_;
  size_t pairs_;
  std::vector<LogGain> gains_;
};

}  // namespace sextant::oracle
