#include "oracle/rope/measured/angles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;

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

Angles AnglesOf(const PairFits& fits) {
  Angles angles{.tokens = fits.tokens,
                .pairs = fits.pairs,
                .phase = {},
                .bar = {},
                .gain = {0},
                .fits = fits};
  for (const PairFit& fit : fits.of) {
    const long double size = std::abs(fit.z);
    angles.phase.push_back(std::arg(fit.z));
    angles.bar.push_back(fit.bar < size ? std::asin(fit.bar / size) : kPi);
    angles.gain = Common(angles.gain, {size - fit.bar, size + fit.bar});
  }
  return angles;
}

PairFits Divided(PairFits fits, double cos_by, double sin_by) {
  for (PairFit& fit : fits.of) {
    fit.bar /= std::min(std::abs(cos_by), std::abs(sin_by));  // infinite for a missing term
    if (cos_by != 0) fit.z.real(fit.z.real() / cos_by);
    if (sin_by != 0) fit.z.imag(fit.z.imag() / sin_by);
  }
  return fits;
}

Angles TurnedBack(Angles angles, Turn turn) {
  for (long double& phase : angles.phase) {
    switch (turn) {
      case Turn::kRight:
        break;
      case Turn::kNegated:
        phase += kPi;
        break;
      case Turn::kSwapped:
        phase = kPi / 2 - phase;
        break;
      case Turn::kCosineNegated:
        phase = kPi - phase;
        break;
      case Turn::kQuarter:
        phase -= kPi / 2;
        break;
      case Turn::kQuarterBack:
        phase += kPi / 2;
        break;
    }
  }
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

std::vector<Range> PositionsOf(const Angles& angles, const FrequencyList& frequency,
                               const RotaryModel& model, size_t axis, size_t token, double most) {
  std::vector<PhaseObservation> observations;
  for (size_t k = 0; k < angles.pairs; ++k) {
    const PhaseObservation o = angles.Of(token, k, frequency.of[k], frequency.relative[k]);
    if (model.pairs[k].axis == axis && o.rate != 0 && o.bar < kPi) observations.push_back(o);
  }
  if (observations.empty()) return {};
  // Fast pairs alone leave one range for each of their turns.
  constexpr size_t kMostRanges = size_t{1} << 16;
  return CommonSolutions(std::move(observations), {-most, most}, kMostRanges);
}

std::vector<Range> FrequenciesOfPair(const Angles& angles, size_t pair,
                                     const std::vector<size_t>& tokens,
                                     const std::vector<double>& position,
                                     const FrequencyRule& rule) {
  const auto& [relative, most, from_differences] = rule;
  std::vector<PhaseObservation> observations;
  for (size_t i = 0; i < tokens.size(); ++i) {
    PhaseObservation o = angles.Of(tokens[i], pair, position[tokens[i]], relative);
    if (from_differences) {
      if (i == 0) continue;
      const size_t t = tokens[i - 1];
      const PhaseObservation before = angles.Of(t, pair, position[t], relative);
      // The rounding of both angles counts.
      o.bar += before.bar + relative * most * (std::abs(o.rate) + std::abs(before.rate));
      o.phase -= before.phase;
      o.rate -= before.rate;
    }
    if (o.rate != 0 && o.bar < kPi) observations.push_back(o);
  }
  if (observations.empty()) return {{-most, most}};
  return CommonSolutions(std::move(observations), {-most, most});
}

}  // namespace sextant::oracle
