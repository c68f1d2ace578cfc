// The gain of a measured rotation: one of all pairs, one of cos and another of sin, or an operand
// that is added.
#pragma once

#include <optional>
#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// Gives the candidate the gain that all pairs have, if it is another.
void SetGain(const RotaryFit& fit, RotaryCandidate& candidate);

// Other gains of cos and of sin, if positions and frequencies are right: then both are measured.
// The candidate gets them; the result has the angles without them.
std::optional<RotaryFit> WithTwoGains(const RotaryFit& fit, RotaryCandidate& candidate);

// If x was added to every rotated pair: the candidate says so; the result has the angles without
// it.
std::optional<RotaryFit> WithoutOperand(const RotaryFit& fit, RotaryCandidate& candidate);

// A candidate in which only cos, or only sin, has another gain, a summand, or no growth, and the
// angles without it. Whatever the angles are: cos^2 + sin^2 = 1.
struct OneSided {
  RotaryFit fit;
  RotaryCandidate candidate;
};
std::vector<OneSided> WithGainOfOneSide(const RotaryFit& fit, const RotaryCandidate& start);

}  // namespace sextant::oracle
