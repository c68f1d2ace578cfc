#include "oracle/rope/measured/angles.h"

#include <algorithm>
#include <cmath>

#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

long double LongDoubleOf(const Counted& x) {
  return static_cast<long double>(x.center().high) + static_cast<long double>(x.center().low);
}

// The relative error of position * frequency. The products of these positions are rounded in every
// format, and the second is rounded itself in f32.
long double RelativeErrorOf(const Counted& frequency) {
  long double most = 0;
  for (const double position : {4099.0, 16777217.0}) {
    const ScopedStep at(Step::kAngle);
    const Counted angle = Counted(position, DType::kI64) * frequency;
    const long double size = std::abs(LongDoubleOf(angle));
    if (size > 0 && std::isfinite(angle.Permitted()))
      most = std::max(most, angle.Permitted() / size);
  }
  return most;
}

}  // namespace

namespace {

// The angles whose cosine or sine is `value` +- `bar`, up to pi: their middle and half of their
// range, which is negative if there are none.
struct OneSidedAngle {
  long double phase, bar, twin;
};
OneSidedAngle OfSide(Side side, long double value, long double bar) {
  const long double low = std::max(value - bar, -1.0L), high = std::min(value + bar, 1.0L);
  if (low > high) return {0, -1, 0};
  const bool is_cosine = side == Side::kCosine;
  const long double a = is_cosine ? std::acos(high) : std::asin(low);
  const long double b = is_cosine ? std::acos(low) : std::asin(high);
  const long double phase = (a + b) / 2;
  return {phase, (b - a) / 2 + 0x1p-60L, is_cosine ? -phase : kHalfTurn - phase};  // of acos itself
}

}  // namespace

Angles AnglesOf(const PairFits& fits, double gain, Side side) {
  Angles angles{.tokens = fits.tokens,
                .pairs = fits.pairs,
                .phase = {},
                .bar = {},
                .twin = {},
                .gain = {0},
                .fits = fits};
  bool any = false, only_cosines = true;
  for (const PairFit& fit : fits.of) {
    const long double size = std::abs(fit.z);
    Side known = side;
    if (side == Side::kBoth && std::isinf(fit.bar))
      known = std::isfinite(fit.cos_bar)   ? Side::kCosine
              : std::isfinite(fit.sin_bar) ? Side::kSine
                                           : Side::kBoth;
    if (known == Side::kBoth) {
      angles.phase.push_back(std::arg(fit.z));
      angles.bar.push_back(fit.bar < size ? std::asin(fit.bar / size) : kHalfTurn);
      angles.twin.emplace_back();
      angles.gain.Intersect({size - fit.bar, size + fit.bar});
      only_cosines = only_cosines && std::isinf(fit.bar);
      continue;
    }
    const bool is_cosine = known == Side::kCosine;
    const auto [phase, bar, twin] = OfSide(known, (is_cosine ? fit.z.real() : fit.z.imag()) / gain,
                                           (is_cosine ? fit.cos_bar : fit.sin_bar) / gain);
    angles.phase.push_back(phase);
    angles.bar.push_back(bar);
    angles.twin.emplace_back(twin);
    any = true;
    only_cosines = only_cosines && is_cosine;
  }
  angles.is_mirrored = any && only_cosines;
  return angles;
}

PairFits Divided(PairFits fits, double cos_by, double sin_by) {
  for (PairFit& fit : fits.of) {
    fit.bar /= std::min(std::abs(cos_by), std::abs(sin_by));  // infinite for a missing term
    fit.cos_bar /= std::abs(cos_by);
    fit.sin_bar /= std::abs(sin_by);
    if (cos_by != 0) fit.z.real(fit.z.real() / cos_by);
    if (sin_by != 0) fit.z.imag(fit.z.imag() / sin_by);
  }
  return fits;
}

Angles TurnedBack(Angles angles, Turn turn) {
  const auto turn_back = [turn](long double phase) {
    switch (turn) {
      case Turn::kRight:
        return phase;
      case Turn::kNegated:
        return phase + kHalfTurn;
      case Turn::kSwapped:
        return kHalfTurn / 2 - phase;
      case Turn::kCosineNegated:
        return kHalfTurn - phase;
      case Turn::kQuarter:
        return phase - kHalfTurn / 2;
      case Turn::kQuarterBack:
        return phase + kHalfTurn / 2;
      default:
        return phase;
    }
  };
  for (long double& phase : angles.phase) phase = turn_back(phase);
  for (auto& twin : angles.twin)
    if (twin) twin = turn_back(*twin);
  return angles;
}

FrequencyList FrequencyListOf(const RotaryModel& model, const Tensor<double>* given, const Case& c,
                              const Recipe& recipe) {
  const ScopedRecipe scope(recipe, c.dtype());
  Tensor<Counted> inputs;
  if (given) {
    inputs.data.clear();
    for (const double f : given->data) inputs.data.emplace_back(f, c.dtype());
    inputs.shape = given->shape;
  }
  FrequencyList list;
  for (const Counted& f : ModelFrequencies<Counted>(model, given ? &inputs : nullptr).data) {
    list.of.push_back(LongDoubleOf(f));
    list.relative.push_back(RelativeErrorOf(f));
  }
  return list;
}

double GainOf(const RotaryModel& model, const Case& c, const Recipe& recipe) {
  const ScopedRecipe scope(recipe, c.dtype());
  const auto amplitude = AmplitudeOf<Counted>(model.amplitude_of, model.setting);
  return model.gain * std::pow(amplitude.center().high, model.amplitude_power);
}

bool ActsAs(const Angles& angles, const FrequencyList& frequency, const RotaryModel& model,
            size_t axis, size_t token, double position) {
  for (size_t k = 0; k < angles.pairs; ++k) {
    if (model.pairs[k].axis != axis) continue;
    if (!angles.Of(token, k, frequency.of[k], frequency.relative[k]).Fits(position)) return false;
  }
  return true;
}

bool Fits(const Angles& angles, const FrequencyList& frequency, const RotaryModel& model,
          const Positions& positions, const std::vector<size_t>& tokens) {
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    for (const size_t t : tokens) {
      if (!ActsAs(angles, frequency, model, axis, t, positions[axis][t])) return false;
    }
  }
  return true;
}

std::vector<LongRange> PositionsOf(const Angles& angles, const FrequencyList& frequency,
                                   const RotaryModel& model, size_t axis, size_t token,
                                   double most) {
  std::vector<PhaseObservation> observations;
  for (size_t k = 0; k < angles.pairs; ++k) {
    const PhaseObservation o = angles.Of(token, k, frequency.of[k], frequency.relative[k]);
    if (model.pairs[k].axis == axis && o.rate != 0 && o.bar < kHalfTurn) observations.push_back(o);
  }
  if (observations.empty()) return {};
  // Fast pairs alone leave one range for each of their turns.
  constexpr size_t kMostRanges = size_t{1} << 16;
  return CommonSolutions(std::move(observations), {-most, most}, kMostRanges);
}

std::vector<LongRange> FrequenciesOfPair(const Angles& angles, size_t pair,
                                         const std::vector<size_t>& tokens,
                                         const std::vector<double>& position,
                                         const FrequencyRule& rule) {
  const auto& [relative, least, most, from_differences] = rule;
  std::vector<PhaseObservation> observations;
  for (size_t i = 0; i < tokens.size(); ++i) {
    PhaseObservation o = angles.Of(tokens[i], pair, position[tokens[i]], relative);
    if (from_differences) {
      if (i == 0 || o.twin) continue;
      const size_t t = tokens[i - 1];
      const PhaseObservation before = angles.Of(t, pair, position[t], relative);
      // The rounding of both angles counts.
      o.bar += before.bar + relative * most * (std::abs(o.rate) + std::abs(before.rate));
      o.phase -= before.phase;
      o.rate -= before.rate;
    }
    if (o.rate != 0 && o.bar < kHalfTurn) observations.push_back(o);
  }
  if (observations.empty()) return {{least, most}};
  return CommonSolutions(std::move(observations), {least, most});
}

}  // namespace sextant::oracle
