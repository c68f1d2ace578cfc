#include "oracle/attention/measured/score_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/attention/measured/score_sums.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// The scores of queries and heads are compared where that needs no more scores than these.
constexpr size_t kMostScores = size_t{1} << 22;
// A fit is a better one only if it leaves so much less.
constexpr double kBetterScore = 4;
// A fit that leaves more of the variance than this explains nothing.
constexpr double kMostScoreLeft = 0.05;

// How the scores of keys are compared: those of a tile alone, with a cap that cuts them off.
struct Compared {
  bool clips = false;
  size_t tile = 0;  // 0: all keys
};

class Fitting {
 public:
  Fitting(const PlainAttention& plain, DType dtype, const AskedWeights& weights,
          const Compared& how)
      : plain_(plain),
        n_(plain.sizes()),
        unit_(UnitRoundoffOf(dtype)),
        weights_(weights),
        clips_(how.clips),
        tile_(how.tile == 0 ? n_.T : how.tile) {
    for (size_t row = 0; row < n_.rows() && !by_mask_; ++row)
      by_mask_ = std::ranges::count(ShownKeys(plain_, weights_, row), 1) > 1;
  }

  // Of all heads, by the right query and key heads where these are not worse than others.
  std::vector<HeadFit> Heads(bool searches) {
    std::vector<HeadFit> heads;
    for (size_t h = 0; h < n_.H; ++h) {
      HeadFit best = Fit(h, h, plain_.KeyHeadOf(h));
      const double right = best.left;
      for (size_t i = 0; searches && !best.is_flat && right > kMostScoreLeft && i < n_.H * n_.K;
           ++i) {
        const HeadFit other = Fit(h, i / n_.K, i % n_.K);
        if (other.left < std::min(best.left, right / kBetterScore)) best = other;
      }
      heads.push_back(best);
    }
    return heads;
  }
  // With a cap, or a bias beside the products, a factor does not multiply the scores.
  void Refine(size_t h, HeadFit& fit) const {
    constexpr int kSteps = 12;
    constexpr double kStep = 0x1p-10;
    for (int i = 0; i < kSteps; ++i) {
      ScoreSums sums, whole;  // of the derivative by the factor, and of what the scores leave
      for (const size_t row : SampledRows(n_, h)) {
        const size_t query = RowInHead(n_, row, fit.query);
        const auto at = plain_.ScoresOf(query, fit.key, fit.factor, clips_);
        auto slope = plain_.ScoresOf(query, fit.key, fit.factor * (1 + kStep), clips_);
        std::vector<double> rest(weights_.RowOf(row).begin(), weights_.RowOf(row).end());
        for (size_t t = 0; t < n_.T; ++t) {
          slope[t] = (slope[t] - at[t]) / (fit.factor * kStep);
          rest[t] /= std::exp(at[t]);
        }
        Add(rest, slope, IsRead(row), sums);
        Add(weights_.RowOf(row), at, IsRead(row), whole);
      }
      if (!(sums.xx > 0)) return;
      fit.left = sums.ll / whole.ll;
      fit.factor += sums.Slope();
      fit.bar = kDeviations * std::sqrt(sums.ll / sums.count / sums.xx);
      if (std::abs(sums.Slope()) < fit.bar * kStep) return;
    }
  }

 private:
  // All keys that have weights, if no row has two that the mask shows.
  std::vector<char> IsRead(size_t row) const {
    std::vector<char> read = ShownKeys(plain_, weights_, row);
    for (size_t t = 0; t < n_.T && !by_mask_; ++t) read[t] = weights_.RowOf(row)[t] > 0;
    return read;
  }
  void Add(std::span<const double> weights, const std::vector<double>& scores,
           const std::vector<char>& is_read, ScoreSums& sums) const {
    for (size_t first = 0; first < n_.T; first += tile_)
      sums.AddKeys(weights, scores, is_read, {first, std::min(n_.T, first + tile_)});
  }
  HeadFit Fit(size_t h, size_t query, size_t key) const {
    ScoreSums sums;
    for (const size_t row : SampledRows(n_, h)) {
      Add(weights_.RowOf(row), plain_.ScoresOf(RowInHead(n_, row, query), key, 1, clips_),
          IsRead(row), sums);
    }
    HeadFit fit{.query = query, .key = key};
    if (!(sums.xx > 0)) return {query, key, 1, kInfinity, 0};
    // Equal weights differ by the rounding of two logarithms at most.
    fit.is_flat = sums.ll <= sums.count * 4 * unit_ * unit_;
    fit.left = fit.is_flat ? 0 : sums.Left();
    fit.factor = fit.is_flat ? 0 : sums.Slope();
    fit.bar = sums.Bar(unit_);
    return fit;
  }

  const PlainAttention& plain_;
  const AttentionSizes n_;
  const double unit_;
  const AskedWeights& weights_;
  const bool clips_;
  const size_t tile_;
  bool by_mask_ = false;
};

// The weights with those of key t + later at t.
AskedWeights TurnedBack(AskedWeights weights, size_t later) {
  const size_t T = weights.n.T;
  for (auto row = weights.of.begin(); row != weights.of.end(); row += T)
    std::rotate(row, row + later, row + T);
  return weights;
}

// The fit of all heads.
ScoreFit FitOf(const PlainAttention& plain, DType dtype, const AskedWeights& weights, bool searches,
               const Compared& how) {
  Fitting fitting(plain, dtype, weights, how);
  ScoreFit fit{.heads = fitting.Heads(searches), .clips = how.clips, .tile = how.tile};
  for (size_t h = 0; h < fit.heads.size() && !plain.IsProportional(); ++h)
    if (!fit.heads[h].is_flat) fitting.Refine(h, fit.heads[h]);
  return fit;
}

// The largest tiles that fit as well as any: smaller ones fit too.
std::optional<ScoreFit> FitInTiles(const PlainAttention& plain, DType dtype,
                                   const AskedWeights& weights, bool searches) {
  constexpr size_t kSmallest = 4, kLargest = 256;
  std::vector<ScoreFit> fits;
  double least = kMostScoreLeft;
  for (size_t tile = kSmallest; tile < weights.n.T && tile <= kLargest; tile *= 2) {
    fits.push_back(FitOf(plain, dtype, weights, searches, {.tile = tile}));
    least = std::min(least, fits.back().left());
  }
  const double error = kBetterScore * UnitRoundoffOf(dtype);
  while (!fits.empty() && fits.back().left() > kBetterScore * std::max(least, error * error))
    fits.pop_back();
  return fits.empty() || least >= kMostScoreLeft ? std::nullopt : std::optional(fits.back());
}

}  // namespace

std::vector<char> ShownKeys(const PlainAttention& plain, const AskedWeights& weights, size_t row) {
  std::vector<char> shown(weights.n.T);
  for (size_t t = 0; t < weights.n.T; ++t)
    shown[t] = weights.RowOf(row)[t] > 0 && plain.CountOf(row, t) > 0;
  return shown;
}

std::vector<size_t> SampledRows(const AttentionSizes& n, size_t h) {
  constexpr size_t kMost = 64;
  std::vector<size_t> rows;
  const size_t step = (n.B * n.S + kMost - 1) / kMost;
  for (size_t i = 0; i < n.B * n.S; i += step) rows.push_back((i / n.S * n.H + h) * n.S + i % n.S);
  return rows;
}

std::optional<ScoreFit> FitScores(const PlainAttention& plain, DType dtype, AskedWeights& weights) {
  const AttentionSizes& n = plain.sizes();
  const size_t scores = n.H * n.H * n.K * std::min<size_t>(n.B * n.S, 64) * n.T;
  const bool searches = scores <= kMostScores;
  std::vector<size_t> shifts = {0};
  for (const size_t shift : {size_t{1}, n.T - 1, size_t{2}, n.T - 2})
    if (searches && 0 < shift && shift < n.T) shifts.push_back(shift);
  std::optional<ScoreFit> best;
  for (const size_t later : shifts) {
    const AskedWeights turned = TurnedBack(weights, later);
    double left = kMostScoreLeft;
    for (const bool clips : {false, true}) {
      if (clips && !plain.attributes().soft_cap) continue;
      ScoreFit fit = FitOf(plain, dtype, turned, searches, {.clips = clips});
      fit.later = later;
      if (fit.left() > left) continue;
      left = fit.left() / kBetterScore;
      best = fit;
    }
    if (!best) continue;
    weights = turned;
    return best;
  }
  return FitInTiles(plain, dtype, weights, searches);
}

}  // namespace sextant::oracle
