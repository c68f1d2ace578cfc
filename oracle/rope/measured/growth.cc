#include "oracle/rope/measured/growth.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/rope/measured/growth_search.h"

namespace sextant::oracle {
namespace {

// A number of a growth, and its values that give all gains.
struct Number {
  const char* name;
  LongRange range;
  double Growth::*member;
};

// The candidate, whose last part has no name yet, with another gain or another number of the
// growth.
std::vector<RotaryCandidate> WithOneNumber(const GrowthSearch& search, RotaryCandidate changed) {
  Growth& growth = *changed.model.growth;
  Part& part = changed.parts.back();
  const Growth right = growth;
  const double gain = changed.model.gain;
  std::vector<RotaryCandidate> found;
  if (const LongRange gains = search.Gains(); !gains.IsEmpty() && std::isfinite(gains.high)) {
    changed.model.gain = SimplestRatioIn(gains);
    part = {"gain", Phrase("every pair is multiplied by ", changed.model.gain, " in addition")};
    found.push_back(changed);
    changed.model.gain = gain;
  }
  for (const auto& [name, range, member] :
       {Number{"scale_base", search.ScaleBases(), &Growth::scale_base},
        Number{"center", search.Centers(), &Growth::center},
        Number{"gamma", search.Gammas(), &Growth::gamma}}) {
    growth = right;
    if (range.IsEmpty() || !std::isfinite(range.low) || !std::isfinite(range.high)) continue;
    growth.*member = SimplestIn(range);
    const bool is_valid =
        member == &Growth::center ? growth.center == std::floor(growth.center) : growth.*member > 0;
    if (!is_valid || !search.Fits(growth)) continue;
    part = {name + std::string("_differs"),
            Phrase("the growth is that of ", name, " = ", MeasuredText(growth.*member, range),
                   ", expected ", right.*member)};
    found.push_back(changed);
  }
  return found;
}

// The pairs r, r + n, r + 2n ..., or those of begin .. end - 1.
struct SomePairs {
  std::vector<size_t> pairs;
  std::string text;
};
std::vector<SomePairs> PartsOf(size_t count) {
  std::vector<SomePairs> parts;
  const auto add = [&](size_t begin, size_t end, size_t step, const std::string& text) {
    SomePairs& part = parts.emplace_back(SomePairs{{}, text});
    for (size_t k = begin; k < end; k += step) part.pairs.push_back(k);
  };
  for (size_t n = 2; n <= 4; ++n) {
    for (size_t r = 0; r < n && r + 2 * n < count; ++r)
      add(r, count, n, Phrase("pairs ", r, ", ", r + n, ", ", r + 2 * n, " ..."));
  }
  for (size_t k = 1; k < count; ++k) {
    add(k, count, 1, Phrase("the pairs from ", k, " on"));
    add(0, k, 1, Phrase("the pairs below ", k));
  }
  return parts;
}

// The candidate, in which some pairs grow by a power of the right growth; empty if there is none.
std::vector<RotaryCandidate> WithPowers(const GrowthSearch& search, RotaryCandidate changed) {
  std::vector<LongRange> powers;
  for (size_t k = 0; k < search.pairs(); ++k) powers.push_back(search.PowersOf(k));
  Growth& growth = *changed.model.growth;
  for (const SomePairs& some : PartsOf(search.pairs())) {
    LongRange common;
    for (const size_t k : some.pairs) common.Intersect(powers[k]);
    if (common.IsEmpty() || common.Contains(1) || !std::isfinite(common.high - common.low))
      continue;
    const double power = SimplestRatioIn(common);
    growth.powers.assign(search.pairs(), 1);
    for (const size_t k : some.pairs) growth.powers[k] = power;
    if (!search.Fits(growth)) continue;
    changed.parts.back() = {
        "growth_of_some_pairs",
        power == -1 ? some.text + " have the inverse of their growth: that of the other role"
                    : Phrase("the growth of ", some.text, " is its power ", power, ", expected 1")};
    return {changed};
  }
  return {};
}

// The candidate, in which the growth has other positions than the right ones of a search.
std::vector<RotaryCandidate> WithOtherPositions(const RotaryFit& fit, const GrowthSearch& search,
                                                const RotaryCandidate& candidate) {
  const RotaryQuestion& question = fit.question();
  if (question.positions.size() > 1) return {};
  std::vector<RotaryCandidate> found;
  for (const PositionForm& form : NamePositions(
           search.PositionsSeen(question.positions[0], question.length, fit.token_of()))) {
    RotaryCandidate& one = found.emplace_back(candidate);
    one.model.growth->positions = form.position;
    one.model.growth->length = question.length;
    one.parts.back() = {"growth_" + form.name, "in the growth, " + form.sentence};
  }
  return found;
}

// The candidate, whose growth is not the right one at these positions, with another growth.
std::vector<RotaryCandidate> WithOther(const RotaryFit& fit, const GrowthSearch& search,
                                       const RotaryCandidate& candidate) {
  RotaryCandidate changed = candidate;
  changed.parts.emplace_back();
  Part& part = changed.parts.back();
  if (search.IsMissing()) {
    changed.model.growth.reset();
    part = {"growth_absent", "the growth is missing: all gains are 1"};
    return {changed};
  }
  Growth& growth = *changed.model.growth;
  const Growth right = growth;
  growth.is_of_key = !right.is_of_key;
  if (search.Fits(growth)) {
    part = {"role_exchanged", growth.is_of_key ? "the growth is that of keys, expected queries"
                                               : "the growth is that of queries, expected keys"};
    return {changed};
  }
  growth = right;
  const size_t pairs = changed.model.pairs.size();
  for (const AxisOrder& order : OrdersOf(pairs, OrdersFor::kFew)) {
    growth.pairs.resize(pairs);
    for (size_t k = 0; k < pairs; ++k) growth.pairs[k] = order.from(k);
    if (!search.Fits(growth)) continue;
    part = {"growth_of_other_pair", "the growth of the pairs is in another order: " + order.text};
    return {changed};
  }
  growth = right;
  std::vector<RotaryCandidate> found = WithOneNumber(search, changed);
  if (found.empty()) found = WithPowers(search, changed);
  growth = right;
  return found.empty() ? WithOtherPositions(fit, search, changed) : found;
}

}  // namespace

std::vector<RotaryCandidate> WithGrowth(const RotaryFit& fit, const RotaryCandidate& candidate) {
  const GrowthSearch search(fit, candidate, candidate.positions);
  if (search.Fits(*candidate.model.growth)) return {candidate};
  const RotaryQuestion& question = fit.question();
  if (candidate.positions == question.positions) return WithOther(fit, search, candidate);
  // The angles may have wrong positions, and the growth the right ones.
  RotaryCandidate kept = candidate;
  kept.model.growth->positions = question.positions[0];
  kept.model.growth->length = question.length;
  const GrowthSearch by_right(fit, kept, question.positions);
  if (by_right.Fits(*kept.model.growth)) {
    kept.parts.back().sentence += "; the growth has the right positions";
    return {kept};
  }
  std::vector<RotaryCandidate> found = WithOther(fit, search, candidate);
  return found.empty() ? WithOther(fit, by_right, kept) : found;
}

}  // namespace sextant::oracle
