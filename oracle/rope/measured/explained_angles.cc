#include "oracle/rope/measured/explained_angles.h"

#include <algorithm>

#include "oracle/rope/measured/axes.h"
#include "oracle/rope/measured/frequency_functions.h"
#include "oracle/rope/measured/position_functions.h"

namespace sextant::oracle {
namespace {

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
  if (!fit.angles().gain.Contains(fit.GainOf(changed))) return;
  candidate.model = changed;
  std::erase_if(candidate.parts, [](const Part& part) { return part.is_gain; });
}

// The candidate with other frequencies, measured at some tokens.
std::vector<RotaryCandidate> CandidatesWithFrequencies(const RotaryFit& fit,
                                                       const RotaryCandidate& start,
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
  for (const RotaryCandidate& c : CandidatesWithFrequencies(fit, start, tokens, from_differences)) {
    for (RotaryCandidate& both : WithPositions(fit, c, NamePositions))
      found.push_back(std::move(both));
  }
  return found;
}

// Usual functions of the positions, for which all pairs have some frequencies, and these. For
// answers in which hardly any token is at its right position.
std::vector<RotaryCandidate> WithUsualPositions(const RotaryFit& fit,
                                                const RotaryCandidate& start) {
  if (start.model.has_coordinates || start.positions.size() > 1) return {};
  const RotaryQuestion& question = fit.question();
  const std::vector<double>& right = start.positions[0];
  const auto functions = UsualPositionFunctions(right, question.length);
  const std::vector<size_t> all = fit.AllTokens();
  constexpr size_t kFew = 12;  // refute most functions
  const std::vector<size_t> few(all.begin(), all.begin() + std::min(kFew, all.size()));
  std::vector<RotaryCandidate> found;
  PositionRank best = PositionRank::kAnyNumber;
  for (const PositionFunction& function : functions) {
    if (function.rank > best) continue;
    RotaryCandidate one = start;
    for (size_t i = 0; i < right.size(); ++i)
      one.positions[0][i] = function.of(right[i], i / question.length, i % question.length);
    // Of one position alone, any frequency is as good as its multiples.
    const auto [least, most] = std::ranges::minmax_element(one.positions[0]);
    if (one.positions == start.positions || *least == *most) continue;
    if (!fit.HaveFrequencies(one, few) || !fit.HaveFrequencies(one, all)) continue;
    one.parts.push_back({function.name, function.sentence});
    for (RotaryCandidate& both : CandidatesWithFrequencies(fit, one, all, false)) {
      if (!fit.FitsAll(both)) continue;
      if (function.rank < best) found.clear();
      best = function.rank;
      found.push_back(std::move(both));
    }
  }
  return found;
}

}  // namespace

std::vector<RotaryCandidate> AnglesExplained(const RotaryFit& fit, const RotaryCandidate& start) {
  if (auto found = WithPositions(fit, start, NamePositions); !found.empty()) return found;
  const std::vector<size_t> all = fit.AllTokens();
  if (auto found = CandidatesWithFrequencies(fit, start, all, false); !found.empty()) return found;
  if (auto found = WithBoth(fit, start, fit.NearestTokens(start), false); !found.empty())
    return found;
  return WithBoth(fit, start, all, true);
}

namespace {

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

// True if no pair turns forwards again, beside all that turn backwards.
bool StaysBackwards(const RotaryCandidate& candidate, const RotaryCandidate& forwards) {
  for (size_t k = 0; k < candidate.model.pairs.size(); ++k)
    if (candidate.model.pairs[k].factor * forwards.model.pairs[k].factor > 0) return false;
  return true;
}

// The simplest ways to explain the angles.
std::vector<RotaryCandidate> CompletedAngles(const RotaryFit& fit, const RotaryCandidate& start) {
  if (fit.FitsAll(start)) return {start};
  if (const RotaryCandidate back = Backwards(start); fit.FitsAll(back)) return {back};
  for (const NamedTurn& turn : kTurns) {
    const auto [other, turned] = Turned(fit, start, turn);
    if (other.FitsAll(turned)) return {turned};
  }
  if (auto found = AnglesExplained(fit, start); !found.empty()) return found;
  auto backwards = AnglesExplained(fit, Backwards(start));
  std::erase_if(backwards, [&](const auto& one) { return !StaysBackwards(one, start); });
  if (!backwards.empty()) return backwards;
  for (const NamedTurn& turn : kTurns) {
    const auto [other, turned] = Turned(fit, start, turn);
    if (auto found = AnglesExplained(other, turned); !found.empty()) return found;
  }
  return WithUsualPositions(fit, start);
}

}  // namespace

namespace {

std::vector<RotaryCandidate> WithListedFrequencies(const RotaryFit& fit,
                                                   const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found;
  for (const FrequencyForm& form :
       ListFrequencies(fit.FrequenciesSeen(start, fit.AllTokens(), false))) {
    RotaryCandidate one = start;
    one.model = form.model;
    one.parts.push_back({form.name, form.sentence});
    if (fit.FitsAll(one)) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

// The simplest ways with other axes. Positions without a name come last.
std::vector<RotaryCandidate> CompletedWithAxes(const RotaryFit& fit, const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found;
  const auto complete = [&](const RotaryCandidate& one) {
    for (RotaryCandidate& c : CompletedAngles(fit, one)) found.push_back(std::move(c));
  };
  for (const RotaryCandidate& one : WithMeasuredAxes(fit, start)) complete(one);
  if (!found.empty()) return found;
  for (const RotaryCandidate& one : WithSimpleAxes(start)) {
    for (RotaryCandidate& c : AnglesExplained(fit, one)) found.push_back(std::move(c));
  }
  if (found.empty()) found = WithPositions(fit, start, ListPositions);
  return found.empty() ? WithListedFrequencies(fit, start) : found;
}

}  // namespace sextant::oracle
