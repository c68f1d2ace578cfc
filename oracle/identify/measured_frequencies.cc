#include "oracle/identify/measured_frequencies.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/best_claims.h"
#include "reference/rope/scaling_lists.h"

namespace sextant::oracle {
namespace {

// The largest difference of each pair.
class PairDifferences {
 public:
  PairDifferences(Claim claim, const std::vector<PairOfChannels>& pairs,
                  const std::vector<Exchange>& weighed)
      : claim_(std::move(claim)),
        weighed_(weighed),
        pair_of_(weighed[0].answer[0].values.shape.back(), pairs.size()),
        pairs_(pairs.size()) {
    for (size_t k = 0; k < pairs.size(); ++k)
      pair_of_.at(pairs[k].first) = pair_of_.at(pairs[k].second) = k;
  }
  Claim With(const MeasuredTable& table) const {
    Claim claim = claim_;
    claim["scaling"] = ExplicitText(table);
    return claim;
  }
  std::vector<double> At(const MeasuredTable& table) const {
    std::vector<double> largest(pairs_ + 1);  // the last: of channels in no pair
    const std::vector<double> differences = DifferencesOf(With(table), weighed_);
    if (differences.empty()) std::ranges::fill(largest, kInfinity);
    for (size_t i = 0; i < differences.size(); ++i) {
      double& most = largest[pair_of_[i % pair_of_.size()]];
      most = std::max(most, std::abs(differences[i]));
    }
    return largest;
  }

 private:
  Claim claim_;
  const std::vector<Exchange>& weighed_;
  std::vector<size_t> pair_of_;  // of each channel, or column, of the answer
  size_t pairs_;
};

// Takes over the numbers of the pairs that `is_better` names.
void TakeOver(const MeasuredTable& from, const std::function<bool(size_t)>& is_better,
              MeasuredTable& to) {
  for (size_t k = 0; k < to.inv_freq.size(); ++k) {
    if (is_better(k)) to.inv_freq[k].value = from.inv_freq[k].value;
  }
}

}  // namespace

bool IsMeasured(const Claim& claim) {
  const auto at = claim.find("scaling");
  return at != claim.end() && at->second.starts_with(ExplicitScaling::kName);
}

std::string ExplicitText(const MeasuredTable& table) {
  std::vector<double> numbers;
  for (const MeasuredNumber& f : table.inv_freq) numbers.push_back(f.value);
  std::string text(ExplicitScaling::kName);
  text += "(inv_freq=" + PrintValue(numbers);
  const auto& [gain, bar] = table.attention_factor;
  if (!table.attention_factor.MayBe(1) && std::isfinite(gain)) {
    // Few digits, but near the middle of the error bar: near its ends answers would not conform.
    constexpr double kPart = 1.0 / 64;
    text += ",attention_factor=" + PrintValue(SimplestIn({gain - kPart * bar, gain + kPart * bar}));
  }
  return text + ")";
}

Claim WithMeasuredList(const Claim& claim, const MeasuredTable& table,
                       const std::vector<PairOfChannels>& pairs,
                       const std::vector<Exchange>& exchanges, const std::string& recipe,
                       int threads) {
  MeasuredTable best = table;
  Claim start = claim;
  start["scaling"] = ExplicitText(table);
  const std::vector<Exchange> weighed = Weighed(exchanges, start, recipe, threads);
  const PairDifferences differences(start, pairs, weighed);
  std::vector<double> least = differences.At(best);
  const auto take = [&](const MeasuredTable& moved) {
    const std::vector<double> its = differences.At(moved);
    TakeOver(
        moved, [&](size_t k) { return its[k] < least[k]; }, best);
    for (size_t k = 0; k < its.size(); ++k) least[k] = std::min(least[k], its[k]);
  };
  for (double step = 0.5; step > 0x1p-10; step /= 2) {  // of an error bar
    for (const double signed_step : {step, -step}) {
      MeasuredTable moved = best;
      for (MeasuredNumber& f : moved.inv_freq) f.value += signed_step * f.bar;
      take(moved);
    }
  }
  const MeasuredTable precise = best;
  constexpr int kAllDigits = 15;  // of a double
  for (int digits = kAllDigits; digits > 0; --digits) {
    MeasuredTable rounded = precise;
    for (MeasuredNumber& f : rounded.inv_freq) f.value = RoundedToDigits(f.value, digits);
    const std::vector<double> its = differences.At(rounded);
    TakeOver(
        rounded, [&](size_t k) { return its[k] <= least[k] + (1 - least[k]) / 8; }, best);
  }
  return differences.With(best);
}

}  // namespace sextant::oracle
