#include "oracle/rope/measured/growth_search.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {
namespace {

long double LogOfDecay(double gamma, size_t k, size_t pairs) {
  const auto part = static_cast<long double>(k) / static_cast<long double>(pairs);
  return std::log((part + gamma) / (1 + static_cast<long double>(gamma)));
}

LongRange Ordered(long double a, long double b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

GrowthSearch::GrowthSearch(const RotaryFit& fit, const RotaryCandidate& candidate,
                           const Positions& all)
    : right_(*candidate.model.growth), pairs_(candidate.model.pairs.size()) {
  const Positions positions = fit.Measured(all);
  for (size_t t = 0; t < fit.angles().tokens; ++t) {
    for (size_t k = 0; k < pairs_; ++k) {
      const PairFit& one = fit.angles().fits(t, k);
      const long double size = std::abs(one.z);
      if (!(one.bar < size)) continue;
      gains_.push_back(
          {k, t, positions[0][t], {std::log(size - one.bar), std::log(size + one.bar)}});
    }
  }
}

bool GrowthSearch::Fits(const Growth& g) const {
  return std::ranges::all_of(gains_, [&](const LogGain& gain) {
    const long double t = (gain.position - g.center) / g.scale_base * g.PowerOf(gain.pair);
    const long double log = t * LogOfDecay(g.gamma, g.PairOf(gain.pair), pairs_);
    return gain.log.Contains(g.is_of_key ? -log : log);
  });
}

LongRange GrowthSearch::Gains() const {
  LongRange common;
  for (const LogGain& gain : gains_) {
    const long double log = (gain.position - right_.center) / right_.scale_base * Decay(gain);
    common.Intersect({gain.log.low - log, gain.log.high - log});
  }
  return {std::exp(common.low), std::exp(common.high)};
}

bool GrowthSearch::IsMissing() const {
  return std::ranges::all_of(gains_, [](const LogGain& gain) { return gain.log.Contains(0); });
}

LongRange GrowthSearch::ScaleBases() const {
  return CommonOf([&](const LogGain& gain, long double log) {
    return Decay(gain) * (gain.position - right_.center) / log;
  });
}

LongRange GrowthSearch::Centers() const {
  return CommonOf([&](const LogGain& gain, long double log) {
    return gain.position - right_.scale_base * log / Decay(gain);
  });
}

LongRange GrowthSearch::Gammas() const {
  return CommonOf([&](const LogGain& gain, long double log) {
    const long double sign = right_.is_of_key ? -1 : 1;
    const long double z =
        std::exp(sign * log * right_.scale_base / (gain.position - right_.center));
    const long double part = static_cast<long double>(gain.pair) / static_cast<long double>(pairs_);
    return (z - part) / (1 - z);
  });
}

LongRange GrowthSearch::PowersOf(size_t pair) const {
  LongRange common;
  for (const LogGain& gain : gains_) {
    const long double right = (gain.position - right_.center) / right_.scale_base * Decay(gain);
    if (gain.pair != pair || right == 0) continue;
    common.Intersect(Quotient(gain.log, right));
  }
  return common;
}

MeasuredPositions GrowthSearch::PositionsSeen(std::vector<double> right, size_t length,
                                              std::vector<size_t> token_of) const {
  constexpr size_t kMostCandidates = 64;
  std::vector<LongRange> of_token(token_of.size());
  for (const LogGain& gain : gains_) {
    const auto at = [&](long double log) {
      return right_.center + right_.scale_base * log / Decay(gain);
    };
    LongRange& one = of_token[gain.token];
    one.Intersect(Ordered(at(gain.log.low), at(gain.log.high)));
  }
  MeasuredPositions seen{.right = std::move(right),
                         .length = length,
                         .token_of = std::move(token_of),
                         .candidates = {},
                         .acts_as = {},
                         .most = 0,
                         .bits = 0};
  for (const double p : seen.right) seen.most = std::max(seen.most, std::abs(p));
  seen.most = 2 * seen.most + 1;
  for (const LongRange& range : of_token) {
    std::vector<double>& integers = seen.candidates.emplace_back();
    const long double width = std::max(range.high - range.low, 0x1p-60L);
    seen.bits += std::log2(std::max(1.0, 2 * seen.most / static_cast<double>(width)));
    if (!(range.high - range.low < kMostCandidates)) continue;
    for (auto q = std::ceil(range.low); q <= range.high; ++q)
      integers.push_back(static_cast<double>(q) + 0);  // never -0
  }
  seen.bits /= static_cast<double>(std::max<size_t>(of_token.size(), 1));
  seen.acts_as = [of_token](size_t t, double q) { return of_token[t].Contains(q); };
  return seen;
}

long double GrowthSearch::Decay(const LogGain& gain) const {
  return (right_.is_of_key ? -1 : 1) * LogOfDecay(right_.gamma, gain.pair, pairs_);
}

// The numbers that `of` gives for a logarithm within its error bars, in all pairs and tokens.
LongRange GrowthSearch::CommonOf(
    const std::function<long double(const LogGain&, long double log)>& of) const {
  LongRange common;
  for (const LogGain& gain : gains_) {
    if (gain.log.Contains(0) || gain.position == right_.center) continue;
    const long double a = of(gain, gain.log.low), b = of(gain, gain.log.high);
    if (std::isfinite(a) && std::isfinite(b)) common.Intersect(Ordered(a, b));
  }
  return common;
}

}  // namespace sextant::oracle
