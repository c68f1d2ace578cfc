#include "oracle/rope/measured/rotation.h"

#include <algorithm>
#include <cmath>

#include "oracle/rope/measured/axes.h"
#include "oracle/rope/measured/growth.h"
#include "oracle/rope/measured/layout.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

// False if the configuration has no frequencies for so many pairs.
bool SetLayout(const RotaryQuestion& question, const Layout& layout, RotaryModel& model) {
  model.read = layout.read;
  model.written = layout.written;
  model.flow = layout.flow;
  if (layout.read.size() == model.pairs.size()) return true;
  if (!question.is_configured || model.has_coordinates) return false;
  model.setting.R = layout.R;
  try {
    CheckScaling(model.scaling, model.setting);
  } catch (const Error&) {
    return false;
  }
  model.pairs.clear();
  for (int64_t k = 0; k < layout.R / 2; ++k)
    model.pairs.push_back({.k = 2 * k, .n = layout.R, .scaled_as = k});
  return true;
}

void SetGain(const RotaryFit& fit, RotaryCandidate& candidate) {
  RotaryModel& model = candidate.model;
  const Range& gain = fit.angles().gain;
  const double right = fit.GainOf(model);
  if (candidate.model.growth || gain.IsEmpty() || gain.Holds(right)) return;
  const RotaryModel before = model;
  const auto is_power = [&](int power) {
    model.amplitude_power = power;
    return power != before.amplitude_power && gain.Holds(fit.GainOf(model));
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
    const double ratio = SimplestRatioIn({gain.low / right, gain.high / right});
    model.gain *= ratio;
    candidate.parts.push_back(
        {"gain", Phrase("every pair is multiplied by ", ratio, " in addition"), true});
  }
}

// Other gains of cos and of sin, if positions and frequencies are right: then both are measured.
std::optional<RotaryFit> WithTwoGains(const RotaryFit& fit, RotaryCandidate& candidate) {
  if (candidate.model.growth) return std::nullopt;
  const auto [cos, sin] = fit.GainsOfBoth(candidate);
  const double right = fit.GainOf(candidate.model);
  if (!fit.angles().gain.IsEmpty() || cos.IsEmpty() || sin.IsEmpty()) return std::nullopt;
  const double of_cos = cos.Holds(right) ? 1 : SimplestRatioIn({cos.low / right, cos.high / right});
  const double of_sin = sin.Holds(right) ? 1 : SimplestRatioIn({sin.low / right, sin.high / right});
  if (of_cos == 0 && of_sin == 0) return std::nullopt;
  candidate.model.cosine_gain = of_cos;
  candidate.model.sine_gain = of_sin;
  const bool missing = of_cos == 0 || of_sin == 0;
  candidate.parts.push_back(
      {missing ? "term_missing" : "gain_of_cos_and_sin",
       missing ? Phrase("the terms with ", of_cos == 0 ? "cos" : "sin", " are missing")
               : Phrase("cos is multiplied by ", of_cos, " and sin by ", of_sin, " in addition"),
       true});
  return RotaryFit(fit, AnglesOf(Divided(fit.angles().fits, of_cos * right, of_sin * right)));
}

// If x was added to every rotated pair, the angles without it.
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
  return RotaryFit(fit, AnglesOf(fits));
}

using NamesOfPositions = std::vector<PositionForm> (*)(const MeasuredPositions&);

// The candidate with one function of the positions of every axis.
std::vector<RotaryCandidate> WithPositionsOfAll(const RotaryFit& fit, const RotaryCandidate& start,
                                                NamesOfPositions names) {
  std::vector<RotaryCandidate> found;
  for (const PositionForm& form : names(fit.PositionsSeen(start))) {
    RotaryCandidate& one = found.emplace_back(start);
    auto begin = form.position.begin();
    for (std::vector<double>& axis : one.positions) {
      const auto end = begin + static_cast<std::ptrdiff_t>(axis.size());
      axis.assign(begin, end);
      begin = end;
    }
    const bool several = start.positions.size() > 1;
    one.parts.push_back({form.name, (several ? "on every axis, " : "") + form.sentence});
  }
  return found;
}

// The candidate with other positions, axis by axis.
std::vector<RotaryCandidate> WithPositionsOfEach(const RotaryFit& fit, const RotaryCandidate& start,
                                                 NamesOfPositions names) {
  std::vector<RotaryCandidate> found = {start};
  for (size_t axis = 0; axis < start.positions.size(); ++axis) {
    const std::vector<PositionForm> forms = names(fit.PositionsSeen(start, axis));
    if (forms.empty()) continue;
    std::vector<RotaryCandidate> longer;
    for (const RotaryCandidate& one : found) {
      for (const PositionForm& form : forms) {
        longer.push_back(one);
        longer.back().positions[axis] = form.position;
        longer.back().parts.push_back({form.name, Phrase("on axis ", axis, " ", form.sentence)});
      }
    }
    found = std::move(longer);
  }
  return found;
}

// Empty if no name is found for the positions.
std::vector<RotaryCandidate> WithPositions(const RotaryFit& fit, const RotaryCandidate& start,
                                           NamesOfPositions names) {
  if (start.model.has_coordinates) return {};
  const auto is_wrong = [&](const RotaryCandidate& c) { return !fit.FitsAll(c); };
  std::vector<RotaryCandidate> found = WithPositionsOfAll(fit, start, names);
  std::erase_if(found, is_wrong);
  if (!found.empty() || start.positions.size() == 1) return found;
  found = WithPositionsOfEach(fit, start, names);
  std::erase_if(found, is_wrong);
  return found;
}

// If the gain is that of the changed scaling, it is no other deviation.
void UseAmplitude(const RotaryFit& fit, RotaryCandidate& candidate) {
  RotaryModel changed = candidate.model;
  changed.amplitude_of = changed.scaling;
  changed.amplitude_power = fit.right().amplitude_power;
  changed.gain = fit.right().gain;
  if (!fit.angles().gain.Holds(fit.GainOf(changed))) return;
  candidate.model = changed;
  std::erase_if(candidate.parts, [](const Part& part) { return part.is_gain; });
}

// The candidate with other frequencies, measured at some tokens.
std::vector<RotaryCandidate> WithFrequencies(const RotaryFit& fit, const RotaryCandidate& start,
                                             const std::vector<size_t>& tokens,
                                             bool from_differences) {
  std::vector<RotaryCandidate> found;
  for (const FrequencyForm& form :
       NameFrequencies(fit.FrequenciesSeen(start, tokens, from_differences))) {
    RotaryCandidate c = start;
    c.model = form.model;
    UseAmplitude(fit, c);
    c.parts.push_back({form.name, form.sentence});
    found.push_back(std::move(c));
  }
  return found;
}

// Other frequencies, measured at some tokens, and other positions.
std::vector<RotaryCandidate> WithBoth(const RotaryFit& fit, const RotaryCandidate& start,
                                      const std::vector<size_t>& tokens, bool from_differences) {
  std::vector<RotaryCandidate> found;
  for (const RotaryCandidate& c : WithFrequencies(fit, start, tokens, from_differences)) {
    for (RotaryCandidate& both : WithPositions(fit, c, NamePositions))
      found.push_back(std::move(both));
  }
  return found;
}

std::vector<RotaryCandidate> AnglesExplained(const RotaryFit& fit, const RotaryCandidate& start) {
  if (auto found = WithPositions(fit, start, NamePositions); !found.empty()) return found;
  const std::vector<size_t> all = fit.AllTokens();
  if (auto found = WithFrequencies(fit, start, all, false); !found.empty()) return found;
  if (auto found = WithBoth(fit, start, fit.NearestTokens(start), false); !found.empty())
    return found;
  return WithBoth(fit, start, all, true);
}

struct NamedTurn {
  Turn turn;
  const char *name, *sentence;
};
constexpr NamedTurn kTurns[] = {
    {Turn::kNegated, "both_terms_negated", "cos and sin both have the wrong sign"},
    {Turn::kSwapped, "cos_and_sin_exchanged", "cos and sin are exchanged"},
    {Turn::kCosineNegated, "cosine_negated", "cos has the wrong sign"},
    {Turn::kQuarter, "turned_by_a_quarter", "(cos, sin) is replaced by (-sin, cos)"},
    {Turn::kQuarterBack, "turned_back_by_a_quarter", "(cos, sin) is replaced by (sin, -cos)"},
};

// The candidate with the angles of another turn, and that turn.
std::pair<RotaryFit, RotaryCandidate> Turned(const RotaryFit& fit, const RotaryCandidate& start,
                                             const NamedTurn& turn) {
  RotaryCandidate turned = start;
  turned.model.turn = turn.turn;
  turned.parts.push_back({turn.name, turn.sentence});
  return {RotaryFit(fit, TurnedBack(fit.angles(), turn.turn)), turned};
}

// The candidate with all angles negated.
RotaryCandidate Backwards(RotaryCandidate start) {
  for (PairFrequency& pair : start.model.pairs) pair.factor = -pair.factor;
  start.parts.push_back({"turns_backwards", "all pairs turn in the other direction"});
  return start;
}

// The simplest ways to explain the angles.
std::vector<RotaryCandidate> Completed(const RotaryFit& fit, const RotaryCandidate& start) {
  if (fit.FitsAll(start)) return {start};
  if (const RotaryCandidate back = Backwards(start); fit.FitsAll(back)) return {back};
  for (const NamedTurn& turn : kTurns) {
    const auto [other, turned] = Turned(fit, start, turn);
    if (other.FitsAll(turned)) return {turned};
  }
  if (auto found = AnglesExplained(fit, start); !found.empty()) return found;
  if (auto found = AnglesExplained(fit, Backwards(start)); !found.empty()) return found;
  for (const NamedTurn& turn : kTurns) {
    const auto [other, turned] = Turned(fit, start, turn);
    if (auto found = AnglesExplained(other, turned); !found.empty()) return found;
  }
  return {};
}

// The same with other axes. Positions without a name come last.
std::vector<RotaryCandidate> CompletedWithAxes(const RotaryFit& fit, const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found;
  const auto complete = [&](const RotaryCandidate& one) {
    for (RotaryCandidate& c : Completed(fit, one)) found.push_back(std::move(c));
  };
  for (const RotaryCandidate& one : WithMeasuredAxes(fit, start)) complete(one);
  if (!found.empty()) return found;
  for (const RotaryCandidate& one : WithSimpleAxes(start)) {
    for (RotaryCandidate& c : AnglesExplained(fit, one)) found.push_back(std::move(c));
  }
  return found.empty() ? WithPositions(fit, start, ListPositions) : found;
}

}  // namespace

Explanation ExplanationOf(const std::vector<Part>& parts, Hypothesis model) {
  std::string name, sentence;
  for (const Part& part : parts) {
    name += (name.empty() ? "" : "+") + part.name;
    sentence += (sentence.empty() ? "" : "; ") + part.sentence;
  }
  return {name, sentence, std::move(model)};
}

std::vector<Explanation> ExplainRotation(const RotaryQuestion& question) {
  std::vector<RotaryCandidate> found;
  for (const Layout& layout : question.layouts()) {
    RotaryCandidate start{{}, question.right, question.positions};
    if (!layout.name.empty()) start.parts.push_back({layout.name, layout.sentence});
    if (!SetLayout(question, layout, start.model)) continue;
    const std::optional<TokenFits> measured = question.fits(start.model);
    if (!measured) continue;
    RotaryFit fit(question, AnglesOf(measured->fits), measured->token_of);
    if (auto other = WithoutOperand(fit, start))
      fit = *other;
    else if (other = WithTwoGains(fit, start); other)
      fit = *other;
    else
      SetGain(fit, start);
    for (const RotaryCandidate& one : CompletedWithAxes(fit, start)) {
      for (RotaryCandidate& grown : one.model.growth ? WithGrowth(fit, one) : std::vector{one}) {
        if (!grown.parts.empty()) found.push_back(std::move(grown));
      }
    }
  }
  const auto count = [](const RotaryCandidate& c) { return c.parts.size(); };
  std::ranges::stable_sort(found, {}, count);
  std::vector<Explanation> all;
  for (const RotaryCandidate& c : found) {
    if (count(c) == count(found.front()))
      all.push_back(ExplanationOf(c.parts, question.hypothesis(c.model, c.positions)));
  }
  return all;
}

}  // namespace sextant::oracle
