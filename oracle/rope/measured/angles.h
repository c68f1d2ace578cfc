// Measured angles, and what they say about positions and frequencies: angle = position * frequency.
#pragma once

#include <optional>
#include <vector>

#include "oracle/rope/measured/model.h"
#include "oracle/rope/measured/numbers.h"
#include "oracle/rope/measured/rows.h"
#include "reference/case/case.h"
#include "reference/number/recipe/recipe.h"

namespace sextant::oracle {

// Angles modulo 2 pi, [tokens, pairs], with bounds of their errors. A bound of at least pi says
// that an angle is not known.
struct Angles {
  size_t tokens = 0, pairs = 0;
  std::vector<long double> phase, bar;
  std::vector<std::optional<long double>> twin;  // as in PhaseObservation
  bool is_mirrored = false;  // every angle may have either sign: only cosines are known
  LongRange gain;            // of all pairs and tokens; empty if they differ
  PairFits fits;
  PhaseObservation Of(size_t t, size_t k, long double rate, long double relative) const {
    const size_t i = t * pairs + k;
    return {rate, phase[i], bar[i], relative, twin[i]};
  }
};
// The part of (c, s) that is known and right.
enum class Side { kBoth, kCosine, kSine };
// `gain`: the right one, which one side alone does not show.
Angles AnglesOf(const PairFits& fits, double gain, Side side = Side::kBoth);
// The fits with their cosines and sines divided.
PairFits Divided(PairFits fits, double cos_by, double sin_by);
// The same angles if (c, s) was replaced as `turn` says.
Angles TurnedBack(Angles angles, Turn turn);

// Frequencies of pairs, radians per token, and bounds of the relative errors that the recipe
// permits in an angle.
struct FrequencyList {
  std::vector<long double> of, relative;
};
// `given`: the frequencies of an input, or null.
FrequencyList FrequencyListOf(const RotaryModel& model, const Tensor<double>* given, const Case& c,
                              const Recipe& recipe);

// The gain of cos and sin.
double GainOf(const RotaryModel& model, const Case& c, const Recipe& recipe);

// The positions of tokens, [axes, tokens].
using Positions = std::vector<std::vector<double>>;

// True if the angles of the pairs of one axis at a token are those of `position`.
bool ActsAs(const Angles& angles, const FrequencyList& frequency, const RotaryModel& model,
            size_t axis, size_t token, double position);
// True if all angles of some tokens fit.
bool Fits(const Angles& angles, const FrequencyList& frequency, const RotaryModel& model,
          const Positions& positions, const std::vector<size_t>& tokens);

// The positions from -most to most that fit the angles of a token.
std::vector<LongRange> PositionsOf(const Angles& angles, const FrequencyList& frequency,
                                   const RotaryModel& model, size_t axis, size_t token,
                                   double most);
// The frequencies from least to most that fit the angles of a pair at some tokens. If
// `from_differences`, only differences of the angles of two tokens count: then all positions may
// have the same error.
struct FrequencyRule {
  long double relative, least, most;
  bool from_differences;
};
std::vector<LongRange> FrequenciesOfPair(const Angles& angles, size_t pair,
                                         const std::vector<size_t>& tokens,
                                         const std::vector<double>& position,
                                         const FrequencyRule& rule);

}  // namespace sextant::oracle
