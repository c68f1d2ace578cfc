#include "oracle/rope/measured/growth.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {
namespace {

long double LogOfDecay(double gamma, size_t k, size_t pairs) {
  const auto part = static_cast<long double>(k) / static_cast<long double>(pairs);
  return std::log((part + gamma) / (1 + static_cast<long double>(gamma)));
}

// The logarithm of the gain of one pair at one token.
struct LogGain {
  size_t pair;
  long double position;
  Range log;
};

class Search {
 public:
  Search(const RotaryFit& fit, const RotaryCandidate& candidate, const Positions& all)
      : right_(*candidate.model.growth), pairs_(candidate.model.pairs.size()) {
    const Positions positions = fit.Measured(all);
    for (size_t t = 0; t < fit.angles().tokens; ++t) {
      for (size_t k = 0; k < pairs_; ++k) {
        const PairFit& one = fit.angles().fits(t, k);
        const long double size = std::abs(one.z);
        if (!(one.bar < size)) continue;
        gains_.push_back(
            {k, positions[0][t], {std::log(size - one.bar), std::log(size + one.bar)}});
      }
    }
  }

  bool Fits(const Growth& g) const {
    return std::ranges::all_of(gains_, [&](const LogGain& gain) {
      const long double t = (gain.position - g.center) / g.scale_base;
      const long double log = t * LogOfDecay(g.gamma, g.PairOf(gain.pair), pairs_);
      return gain.log.Holds(g.is_of_key ? -log : log);
    });
  }
  // The gains that multiply the right growth of all pairs and tokens.
  Range Gains() const {
    Range common;
    for (const LogGain& gain : gains_) {
      const long double log = (gain.position - right_.center) / right_.scale_base * Decay(gain);
      common = Common(common, {gain.log.low - log, gain.log.high - log});
    }
    return {std::exp(common.low), std::exp(common.high)};
  }
  bool IsMissing() const {
    return std::ranges::all_of(gains_, [](const LogGain& gain) { return gain.log.Holds(0); });
  }

  // The values of one number that give all gains, if the others are right.
  Range ScaleBases() const {
    return CommonOf([&](const LogGain& gain, long double log) {
      return Decay(gain) * (gain.position - right_.center) / log;
    });
  }
  Range Centers() const {
    return CommonOf([&](const LogGain& gain, long double log) {
      return gain.position - right_.scale_base * log / Decay(gain);
    });
  }
  Range Gammas() const {
    return CommonOf([&](const LogGain& gain, long double log) {
      const long double sign = right_.is_of_key ? -1 : 1;
      const long double z =
          std::exp(sign * log * right_.scale_base / (gain.position - right_.center));
      const long double part =
          static_cast<long double>(gain.pair) / static_cast<long double>(pairs_);
      return (z - part) / (1 - z);
    });
  }

 private:
  long double Decay(const LogGain& gain) const {
    return (right_.is_of_key ? -1 : 1) * LogOfDecay(right_.gamma, gain.pair, pairs_);
  }
  // The numbers that `of` gives for a logarithm within its error bars, in all pairs and tokens.
  Range CommonOf(const std::function<long double(const LogGain&, long double log)>& of) const {
    Range common;
    for (const LogGain& gain : gains_) {
      if (gain.log.Holds(0) || gain.position == right_.center) continue;
      const long double a = of(gain, gain.log.low), b = of(gain, gain.log.high);
      if (std::isfinite(a) && std::isfinite(b))
        common = Common(common, {std::min(a, b), std::max(a, b)});
    }
    return common;
  }

  Growth right_;
  size_t pairs_;
  std::vector<LogGain> gains_;
};

// A number of a growth, and its values that give all gains.
struct Number {
  const char* name;
  Range range;
  double Growth::*member;
};

// The candidate, whose last part has no name yet, with another gain or another number of the
// growth.
std::vector<RotaryCandidate> WithOneNumber(const Search& search, RotaryCandidate changed) {
  Growth& growth = *changed.model.growth;
  Part& part = changed.parts.back();
  const Growth right = growth;
  const double gain = changed.model.gain;
  std::vector<RotaryCandidate> found;
  if (const Range gains = search.Gains(); !gains.IsEmpty() && std::isfinite(gains.high)) {
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

// The growths of other pairs.
struct NamedPairs {
  std::string sentence;
  std::vector<size_t> pairs;
};
std::vector<NamedPairs> OtherPairs(size_t count) {
  std::vector<NamedPairs> all = {{"all pairs grow as pair 0", {}},
                                 {"all pairs grow as the last pair", {}},
                                 {"pair k grows as pair R/2 - 1 - k", {}},
                                 {"pair k grows as pair k + 1", {}},
                                 {"pair k grows as pair k - 1", {}}};
  for (size_t k = 0; k < count; ++k) {
    const size_t last = count - 1;
    const size_t pairs[] = {0, last, last - k, std::min(k + 1, last), k == 0 ? 0 : k - 1};
    for (size_t i = 0; i < all.size(); ++i) all[i].pairs.push_back(pairs[i]);
  }
  return all;
}

// The candidate, whose growth is not the right one at these positions, with another growth.
std::vector<RotaryCandidate> WithOther(const Search& search, const RotaryCandidate& candidate) {
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
  for (const auto& [sentence, pairs] : OtherPairs(changed.model.pairs.size())) {
    growth.pairs = pairs;
    if (!search.Fits(growth)) continue;
    part = {"growth_of_other_pair", sentence};
    return {changed};
  }
  growth = right;
  return WithOneNumber(search, changed);
}

}  // namespace

std::vector<RotaryCandidate> WithGrowth(const RotaryFit& fit, const RotaryCandidate& candidate) {
  const Search search(fit, candidate, candidate.positions);
  if (search.Fits(*candidate.model.growth)) return {candidate};
  const RotaryQuestion& question = fit.question();
  if (candidate.positions == question.positions) return WithOther(search, candidate);
  // The angles may have wrong positions, and the growth the right ones.
  RotaryCandidate kept = candidate;
  kept.model.growth->positions = question.positions[0];
  kept.model.growth->length = question.length;
  const Search by_right(fit, kept, question.positions);
  if (by_right.Fits(*kept.model.growth)) {
    kept.parts.back().sentence += "; the growth has the right positions";
    return {kept};
  }
  std::vector<RotaryCandidate> found = WithOther(search, candidate);
  return found.empty() ? WithOther(by_right, kept) : found;
}

}  // namespace sextant::oracle
