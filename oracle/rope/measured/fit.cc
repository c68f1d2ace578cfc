#include "oracle/rope/measured/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "reference/number/real.h"

namespace sextant::oracle {

double RotaryFit::GainOf(const RotaryModel& model) const {
  return oracle::GainOf(model, question_.get().seen.c, question_.get().seen.recipe);
}

std::pair<LongRange, LongRange> RotaryFit::GainsOfBoth(const RotaryCandidate& candidate) const {
  const FrequencyList list = ListOf(candidate.model);
  const Positions positions = Measured(candidate.positions);
  std::pair<LongRange, LongRange> gains{{0}, {0}};
  for (size_t t = 0; t < angles_.tokens; ++t) {
    for (size_t k = 0; k < angles_.pairs; ++k) {
      const long double p = positions[candidate.model.pairs[k].axis][t];
      const long double angle = p * list.of[k], error = list.relative[k] * std::abs(angle);
      const PairFit& fit = angles_.fits(t, k);
      const auto add = [&](long double value, long double right, LongRange& gain) {
        const long double least = std::abs(right) - error;  // the error of the angle changes it
        if (least <= 0) return;
        const long double middle = value / right;
        const long double bar = (fit.bar + std::abs(middle) * error) / least;
        gain.Intersect({middle - bar, middle + bar});
      };
      add(fit.z.real(), std::cos(angle), gains.first);
      add(fit.z.imag(), std::sin(angle), gains.second);
    }
  }
  return gains;
}

FrequencyList RotaryFit::ListOf(const RotaryModel& model) const {
  return FrequencyListOf(model, question_.get().given, question_.get().seen.c,
                         question_.get().seen.recipe);
}

Positions RotaryFit::Measured(const Positions& positions) const {
  Positions measured;
  for (const std::vector<double>& axis : positions) {
    measured.emplace_back();
    for (const size_t token : token_of_) measured.back().push_back(axis[token]);
  }
  return measured;
}

std::vector<size_t> RotaryFit::AllTokens() const {
  std::vector<size_t> all(angles_.tokens);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

bool RotaryFit::FitsAll(const RotaryCandidate& candidate) const {
  return Fits(angles_, ListOf(candidate.model), candidate.model, Measured(candidate.positions),
              AllTokens());
}

std::vector<size_t> RotaryFit::NearestTokens(const RotaryCandidate& start) const {
  const Positions positions = Measured(start.positions);
  std::vector<size_t> tokens = AllTokens();
  std::ranges::stable_sort(tokens, {}, [&](size_t t) { return std::abs(positions[0][t]); });
  size_t fit = 0, too_many = tokens.size() + 1;
  while (fit + 1 < too_many) {
    const size_t middle = fit + (too_many - fit) / 2;
    const std::vector<size_t> nearest(tokens.begin(),
                                      tokens.begin() + static_cast<std::ptrdiff_t>(middle));
    (HaveFrequencies(start, nearest) ? fit : too_many) = middle;
  }
  tokens.resize(fit);
  return tokens;
}

namespace {

// Frequencies are looked for up to twice the largest right one, but at least up to pi: at integer
// positions, any other acts as one of these.
long double MostOf(const FrequencyList& list) {
  long double most = std::numbers::pi_v<long double>;
  for (const long double f : list.of) most = std::max(most, 2 * std::abs(f));
  return most;
}

}  // namespace

std::vector<LongRange> RotaryFit::FrequencyRangesOf(size_t pair, const RotaryCandidate& start,
                                                    const FrequencyList& list,
                                                    const std::vector<size_t>& tokens,
                                                    bool from_differences) const {
  const long double most = MostOf(list);
  const long double least = angles_.is_mirrored ? 0 : -most;  // a cosine has either sign
  return FrequenciesOfPair(angles_, pair, tokens,
                           Measured(start.positions)[start.model.pairs[pair].axis],
                           {list.relative[pair], least, most, from_differences});
}

std::vector<std::vector<LongRange>> RotaryFit::FrequencyRanges(const RotaryCandidate& start,
                                                               const std::vector<size_t>& tokens,
                                                               bool from_differences) const {
  const FrequencyList list = ListOf(start.model);
  std::vector<std::vector<LongRange>> all;
  for (size_t k = 0; k < angles_.pairs; ++k)
    all.push_back(FrequencyRangesOf(k, start, list, tokens, from_differences));
  return all;
}

// The slow pairs first: few frequencies fit their angles.
bool RotaryFit::HaveFrequencies(const RotaryCandidate& start,
                                const std::vector<size_t>& tokens) const {
  const FrequencyList list = ListOf(start.model);
  for (size_t k = angles_.pairs; k-- > 0;)
    if (FrequencyRangesOf(k, start, list, tokens, false).empty()) return false;
  return true;
}

double RotaryFit::Bits(const RotaryModel& model, size_t axis) const {
  long double bits = 0;
  for (size_t i = 0; i < angles_.bar.size(); ++i) {
    const bool counts = model.pairs[i % angles_.pairs].axis == axis;
    if (counts)
      bits += std::log2(std::numbers::pi_v<long double> / std::max(angles_.bar[i], 0x1p-60L));
  }
  return static_cast<double>(bits / static_cast<long double>(std::max<size_t>(angles_.tokens, 1)));
}

MeasuredPositions RotaryFit::PositionsSeen(const RotaryCandidate& start, size_t axis) const {
  constexpr size_t kMostCandidates = 64;
  const FrequencyList list = ListOf(start.model);
  const RotaryModel& model = start.model;
  MeasuredPositions seen{.right = start.positions[axis],
                         .length = question_.get().length,
                         .token_of = token_of_,
                         .candidates = {},
                         .acts_as = {},
                         .most = 0,
                         .bits = Bits(model, axis)};
  for (const double p : seen.right) seen.most = std::max(seen.most, std::abs(p));
  seen.most = 2 * seen.most + std::max(0x1p17, 2.0 * static_cast<double>(seen.right.size()));
  seen.acts_as = [this, list, model, axis](size_t t, double q) {
    return ActsAs(angles_, list, model, axis, t, q);
  };
  for (size_t t = 0; t < token_of_.size(); ++t) {
    std::vector<double>& integers = seen.candidates.emplace_back();
    if (seen.acts_as(t, seen.right[token_of_[t]])) continue;
    for (const LongRange& range : PositionsOf(angles_, list, model, axis, t, seen.most)) {
      if (range.high - range.low > kMostCandidates || integers.size() > kMostCandidates) {
        integers.clear();
        break;
      }
      for (auto q = std::ceil(range.low); q <= range.high; ++q) {
        const auto integer = static_cast<double>(q) + 0;  // never -0
        const bool known = std::ranges::find(integers, integer) != integers.end();
        const bool is_mirror_image = angles_.is_mirrored && integer * seen.right[token_of_[t]] < 0;
        if (!known && !is_mirror_image && seen.acts_as(t, integer)) integers.push_back(integer);
      }
    }
    if (integers.size() > kMostCandidates) integers.clear();
  }
  return seen;
}

MeasuredPositions RotaryFit::PositionsSeen(const RotaryCandidate& start) const {
  std::vector<MeasuredPositions> axes;
  for (size_t axis = 0; axis < start.positions.size(); ++axis)
    axes.push_back(PositionsSeen(start, axis));
  if (axes.size() == 1) return axes[0];
  MeasuredPositions all;
  all.length = axes[0].length;
  all.bits = kInfinity;
  for (const MeasuredPositions& one : axes) {
    for (const size_t token : one.token_of) all.token_of.push_back(all.right.size() + token);
    all.right.insert(all.right.end(), one.right.begin(), one.right.end());
    all.candidates.insert(all.candidates.end(), one.candidates.begin(), one.candidates.end());
    all.most = std::max(all.most, one.most);
    all.bits = std::min(all.bits, one.bits);
  }
  all.acts_as = [axes, count = token_of_.size()](size_t t, double position) {
    return axes[t / count].acts_as(t % count, position);
  };
  return all;
}

MeasuredFrequencies RotaryFit::FrequenciesSeen(const RotaryCandidate& start,
                                               const std::vector<size_t>& tokens,
                                               bool from_differences) const {
  MeasuredFrequencies seen{
      .right = start.model,
      .right_list = ListOf(start.model),
      .is_configured = question_.get().is_configured && !start.model.has_coordinates,
      .of_pair = {},
      .possible = {},
      .list_of = [this](const RotaryModel& model) { return ListOf(model); },
      .fits = {}};
  seen.most = MostOf(seen.right_list);
  constexpr size_t kMost = 64;
  for (std::vector<LongRange>& ranges : FrequencyRanges(start, tokens, from_differences)) {
    seen.of_pair.push_back(ranges.size() == 1 ? std::optional(ranges[0]) : std::nullopt);
    if (ranges.size() > kMost) ranges.clear();
    seen.possible.push_back(std::move(ranges));
  }
  const Positions positions = Measured(start.positions);
  seen.fits = [=, this](const RotaryModel& model) {
    return from_differences || Fits(angles_, ListOf(model), model, positions, tokens);
  };
  if (from_differences) return seen;
  seen.factors = [=, this, list = seen.right_list,
                  pairs = start.model.pairs](const LongRange& range) {
    std::vector<PhaseObservation> observations;
    for (size_t i = 0; i < tokens.size() * angles_.pairs; ++i) {
      const size_t t = tokens[i / angles_.pairs], k = i % angles_.pairs;
      const PhaseObservation o =
          angles_.Of(t, k, positions[pairs[k].axis][t] * list.of[k], list.relative[k]);
      if (o.rate != 0 && o.bar < std::numbers::pi_v<long double>) observations.push_back(o);
    }
    return CommonSolutions(std::move(observations), range);
  };
  return seen;
}

}  // namespace sextant::oracle
