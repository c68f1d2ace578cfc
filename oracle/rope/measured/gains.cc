#include "oracle/rope/measured/gains.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sextant::oracle {
namespace {

// The gains of the growth, [tokens, pairs], at the right positions; 1 without a growth.
std::vector<long double> GrowthsOf(const RotaryFit& fit, const RotaryModel& model) {
  const Angles& angles = fit.angles();
  std::vector<long double> all(angles.tokens * angles.pairs, 1);
  if (!model.growth) return all;
  const std::vector<double> position = fit.Measured(fit.question().positions)[0];
  const auto& [gamma, scale_base, center] =
      std::tie(model.growth->gamma, model.growth->scale_base, model.growth->center);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto part =
        static_cast<long double>(i % angles.pairs) / static_cast<long double>(angles.pairs);
    const long double t = (position[i / angles.pairs] - center) / scale_base;
    all[i] = std::pow((part + gamma) / (1 + gamma), model.growth->is_of_key ? -t : t);
  }
  return all;
}

// One side of all pairs (the cosines or the sines), and how large the other side says it is.
struct MeasuredSide {
  bool is_cosine;
  std::vector<long double> value, bar;
  std::vector<LongRange> size;  // of the right value, from the other side
};
// Empty if the other side is larger than the gain, so that it is wrong, or is not known.
std::optional<MeasuredSide> SideOf(const RotaryFit& fit, bool is_cosine, double gain,
                                   const std::vector<long double>& growth) {
  MeasuredSide side{is_cosine, {}, {}, {}};
  for (size_t i = 0; i < growth.size(); ++i) {
    const PairFit& one = fit.angles().fits.of[i];
    if (std::isinf(one.bar)) return std::nullopt;
    const long double other = is_cosine ? one.z.imag() : one.z.real(), most = gain * growth[i];
    const long double other_bar = is_cosine ? one.sin_bar : one.cos_bar;
    const long double high = std::abs(other) + other_bar,
                      low = std::max(std::abs(other) - other_bar, 0.0L);
    if (low > most) return std::nullopt;
    side.value.push_back(is_cosine ? one.z.real() : one.z.imag());
    side.bar.push_back(is_cosine ? one.cos_bar : one.sin_bar);
    side.size.push_back(
        {std::sqrt(std::max(most * most - high * high, 0.0L)), std::sqrt(most * most - low * low)});
  }
  return side;
}

// The factors that give all values of the side.
LongRange FactorsOf(const MeasuredSide& side) {
  LongRange common{0};
  for (size_t i = 0; i < side.value.size(); ++i) {
    const long double value = std::abs(side.value[i]), bar = side.bar[i];
    if (side.size[i].high == 0) {
      if (value > bar) return {1, 0};
      continue;
    }
    common.Intersect({(value - bar) / side.size[i].high,
                      side.size[i].low > 0 ? (value + bar) / side.size[i].low : kInfinity});
  }
  return common;
}

// The summands that give all values of the side; the right value has either sign.
std::vector<LongRange> SummandsOf(const MeasuredSide& side) {
  std::vector<LongRange> possible = {{}};
  for (size_t i = 0; i < side.value.size() && !possible.empty(); ++i) {
    const auto& [low, high] = side.size[i];
    const long double value = side.value[i], bar = side.bar[i];
    std::vector<LongRange> both;
    for (const LongRange& range : possible) {
      for (const LongRange& one : {LongRange{value - high - bar, value - low + bar},
                                   LongRange{value + low - bar, value + high + bar}}) {
        both.push_back(one);
        both.back().Intersect(range);
        if (both.back().IsEmpty()) both.pop_back();
      }
    }
    std::ranges::sort(both, {}, &LongRange::low);
    possible.clear();
    for (const LongRange& one : both) {
      if (possible.empty() || one.low > possible.back().high)
        possible.push_back(one);
      else
        possible.back().high = std::max(possible.back().high, one.high);
    }
  }
  return possible;
}

// The side that has no growth, while the other has it.
bool HasNoGrowth(const MeasuredSide& side, const std::vector<long double>& growth) {
  bool is_other = false;
  for (size_t i = 0; i < growth.size(); ++i) {
    const long double value = std::abs(side.value[i]) * growth[i], bar = side.bar[i] * growth[i];
    if (!side.size[i].Meets({value - bar, value + bar})) return false;
    is_other = is_other || !side.size[i].Meets({std::abs(side.value[i]) - side.bar[i],
                                                std::abs(side.value[i]) + side.bar[i]});
  }
  return is_other;
}

class OneSidedGains {
 public:
  OneSidedGains(const RotaryFit& fit, const RotaryCandidate& start)
      : fit_(fit), start_(start), gain_(fit.GainOf(start.model)) {}

  std::vector<OneSided> Run() {
    const std::vector<long double> growth = GrowthsOf(fit_, start_.model);
    for (const bool is_cosine : {true, false}) {
      const auto side = SideOf(fit_, is_cosine, gain_, growth);
      if (!side) continue;
      name_ = is_cosine ? "cos" : "sin";
      if (start_.model.growth && HasNoGrowth(*side, growth)) WithoutGrowth(is_cosine, growth);
      if (!start_.model.growth) WithFactor(*side);
      if (!start_.model.growth) WithSummand(*side);
    }
    return std::move(found_);
  }

 private:
  void Add(const RotaryModel& model, PairFits fits, Part part) {
    OneSided one{RotaryFit(fit_, AnglesOf(fits, gain_)), start_};
    one.candidate.model = model;
    one.candidate.parts.push_back(std::move(part));
    found_.push_back(std::move(one));
  }
  void WithoutGrowth(bool is_cosine, const std::vector<long double>& growth) {
    RotaryModel model = start_.model;
    (is_cosine ? model.cosine_grows : model.sine_grows) = false;
    PairFits fits = fit_.angles().fits;
    for (size_t i = 0; i < growth.size(); ++i) {
      PairFit& one = fits.of[i];
      const auto by = static_cast<double>(growth[i]);
      is_cosine ? one.z.real(one.z.real() * by) : one.z.imag(one.z.imag() * by);
      one.bar *= std::max(1.0, by);
      (is_cosine ? one.cos_bar : one.sin_bar) *= by;
    }
    Add(model, std::move(fits),
        {"growth_of_one_side", Phrase(name_, " does not grow: its growth is missing")});
  }
  void WithFactor(const MeasuredSide& side) {
    const LongRange factors = FactorsOf(side);
    if (factors.IsEmpty() || factors.Contains(1) || !(factors.low > 0)) return;
    const double factor = SimplestRatioIn(factors);
    RotaryModel model = start_.model;
    (side.is_cosine ? model.cosine_gain : model.sine_gain) = factor;
    Add(model,
        Divided(fit_.angles().fits, side.is_cosine ? factor : 1, side.is_cosine ? 1 : factor),
        {"gain_of_cos_and_sin", Phrase(name_, " is multiplied by ", factor, " in addition")});
  }
  void WithSummand(const MeasuredSide& side) {
    const std::vector<LongRange> summands = SummandsOf(side);
    if (summands.size() != 1 || summands[0].Contains(0)) return;
    const double summand = SimplestIn(summands[0]);
    RotaryModel model = start_.model;
    (side.is_cosine ? model.cosine_offset : model.sine_offset) = summand;
    PairFits fits = fit_.angles().fits;
    for (PairFit& one : fits.of)
      one.z -= side.is_cosine ? Complex(summand, 0) : Complex(0, summand);
    Add(model, std::move(fits),
        {"summand_of_cos_or_sin", Phrase(name_, " is ", summand, " more than it should be")});
  }

  const RotaryFit& fit_;
  const RotaryCandidate& start_;
  double gain_;
  std::string name_;
  std::vector<OneSided> found_;
};

}  // namespace

std::vector<OneSided> WithGainOfOneSide(const RotaryFit& fit, const RotaryCandidate& start) {
  return OneSidedGains(fit, start).Run();
}

void SetGain(const RotaryFit& fit, RotaryCandidate& candidate) {
  RotaryModel& model = candidate.model;
  const LongRange& gain = fit.angles().gain;
  const double right = fit.GainOf(model);
  if (candidate.model.growth || gain.IsEmpty() || gain.Contains(right)) return;
  const RotaryModel before = model;
  const auto is_power = [&](int power) {
    model.amplitude_power = power;
    return power != before.amplitude_power && gain.Contains(fit.GainOf(model));
  };
  if (is_power(0)) {
    candidate.parts.push_back(
        {"amplitude_missing", Phrase("the gain is 1, expected ", right), true});
  } else if (is_power(2)) {
    candidate.parts.push_back({"amplitude_squared",
                               Phrase("the gain is ", right * right, ", the square of ", right),
                               true});
  } else {
    model = before;
    const double ratio = SimplestRatioIn(Quotient(gain, right));
    model.gain *= ratio;
    candidate.parts.push_back(
        {"gain", Phrase("every pair is multiplied by ", ratio, " in addition"), true});
  }
}

std::optional<RotaryFit> WithTwoGains(const RotaryFit& fit, RotaryCandidate& candidate) {
  if (candidate.model.growth) return std::nullopt;
  const auto [cos, sin] = fit.GainsOfBoth(candidate);
  const double right = fit.GainOf(candidate.model);
  if (!fit.angles().gain.IsEmpty() || cos.IsEmpty() || sin.IsEmpty()) return std::nullopt;
  const double of_cos = cos.Contains(right) ? 1 : SimplestRatioIn(Quotient(cos, right));
  const double of_sin = sin.Contains(right) ? 1 : SimplestRatioIn(Quotient(sin, right));
  if (of_cos == 0 && of_sin == 0) return std::nullopt;
  candidate.model.cosine_gain = of_cos;
  candidate.model.sine_gain = of_sin;
  const bool missing = of_cos == 0 || of_sin == 0;
  candidate.parts.push_back(
      {missing ? "term_missing" : "gain_of_cos_and_sin",
       missing ? Phrase("the terms with ", of_cos == 0 ? "cos" : "sin", " are missing")
               : Phrase("cos is multiplied by ", of_cos, " and sin by ", of_sin, " in addition"),
       true});
  return RotaryFit(fit, AnglesOf(Divided(fit.angles().fits, of_cos * right, of_sin * right), 1));
}

std::optional<RotaryFit> WithoutOperand(const RotaryFit& fit, RotaryCandidate& candidate) {
  PairFits fits = fit.angles().fits;
  const double right = fit.GainOf(candidate.model);
  bool is_right = true;
  for (PairFit& one : fits.of) {
    is_right = is_right && std::abs(std::abs(one.z) - right) <= one.bar;
    one.z -= 1;
    if (!(std::abs(std::abs(one.z) - right) <= one.bar)) return std::nullopt;
  }
  if (is_right || candidate.model.growth) return std::nullopt;
  candidate.model.adds_operand = true;
  candidate.parts.push_back({"operand_added", "x is added to the rotated channels", true});
  return RotaryFit(fit, AnglesOf(fits, right));
}

}  // namespace sextant::oracle
