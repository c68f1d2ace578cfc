#include "reference/attention/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Real, class Less>
size_t LargestBy(std::span<const Real> scores, Less less) {
  return static_cast<size_t>(std::ranges::max_element(scores, less) - scores.begin());
}

double Difference(double a, double b) { return std::max(0.0, a - b); }

}  // namespace

size_t LargestOf(std::span<const Interval> scores) {
  return LargestBy(scores, [](const Interval& a, const Interval& b) {
    return mpfr_less_p(a.lower().get(), b.lower().get()) != 0;
  });
}
size_t LargestOf(std::span<const Wide> scores) {
  return LargestBy(scores, [](const Wide& a, const Wide& b) { return Less(a, b); });
}
size_t LargestOf(std::span<const Rounded> scores) {
  return LargestBy(scores, [](const Rounded& a, const Rounded& b) { return Less(a, b); });
}

// The scores of a row, and how far from its largest an implementation may see each.
struct SoftmaxRow<Counted>::Range {
  std::vector<Counted> scores;  // converted
  Counted largest;              // of the centres
  double most = -kInfinity;     // no implementation's largest score is above
  bool exact = true;            // all are free of error, so everyone knows the largest

  explicit Range(std::span<const Counted> of) {
    for (const Counted& score : of) {
      scores.push_back(Converted(score));
      const Counted& s = scores.back();
      if (scores.size() == 1 || largest.center_ < s.center_) largest = s;
      most = std::max(most, s.center_.high + Slack(s) + s.error_);
      exact = exact && s.IsExact();
    }
  }
  static double Slack(const Counted& s) { return std::abs(s.center_.high) * 0x1p-50 + s.drift_; }

  DoubleDouble ExponentOf(size_t j) const { return scores[j].center_ - largest.center_; }
  // |score - largest|, of every implementation.
  double Reach(size_t j) const {
    const Counted& s = scores[j];
    return Difference(most + s.error_ + Slack(s), s.center_.high) + std::abs(most) * 0x1p-50;
  }
  bool IsExactIn(DType format, size_t j) const {
    const DoubleDouble exponent = ExponentOf(j);
    return exact && scores[j].center_.low == 0 && largest.center_.low == 0 && exponent.low == 0 &&
           IsRepresentable(format, exponent.high);
  }
  // Of the difference to the largest. To base 2 scores are multiplied by log2 e before or after.
  double RoundingOf(size_t j, const StepRule& rule, bool tiled) const {
    const double reach = Reach(j);
    if (!tiled) return RoundingError(rule, reach, 0);
    const double sizes = 2 * scores[j].Magnitude() + 2 * scores[j].error_ + reach;  // >= |s| + |m|
    return (sizes + 2 * reach) * UnitOf(rule.format) * kBoundUp;
  }
  // Error of the exponent and of its exponential, which counts as one of the exponent.
  double ErrorOf(size_t j, const StepRule& rule, bool tiled, double raises) const {
    double error = scores[j].error_;
    if (rule.exact || scores.size() == 1) return error;
    const bool known = IsExactIn(rule.format, j);
    if (known && ExponentOf(j).high == 0) return error;  // e^0
    if (!known || tiled) error += RoundingOf(j, rule, tiled);
    const double relative = rule.ulps * 2 * UnitOf(rule.format);
    return relative < 1 ? error - (1 + raises) * std::log1p(-relative) : kInfinity;
  }
  // How often the largest score so far may rise, forwards or backwards, the first score included.
  double Raises() const {
    return std::max(RaisesOf(scores), RaisesOf(std::views::reverse(scores)));
  }
  static double RaisesOf(const auto& in_order) {
    double raises = 0, largest = -kInfinity;  // at least so large
    for (const Counted& s : in_order) {
      const double doubt = Slack(s) + s.error_;
      raises += s.center_.high + doubt > largest;
      largest = std::max(largest, s.center_.high - doubt);
    }
    return raises;
  }
};

SoftmaxRow<Counted>::SoftmaxRow(std::span<const Counted> scores, Tiling tiling)
    : tiled_(tiling == Tiling::kAny) {
  if (scores.empty()) return;
  const InStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const Range range(scores);
  largest_ = range.largest;
  if (tiled_) raises_ = range.Raises();
  std::vector<DoubleDouble> terms;
  double drift = 0;  // the largest of an exponent
  for (size_t j = 0; j < scores.size(); ++j) {
    const Counted& s = range.scores[j];
    const double error = range.ErrorOf(j, rule, tiled_, raises_);
    saturated_ = saturated_ || s.saturated_;
    lost_ = lost_ || !std::isfinite(error) || !std::isfinite(s.center_.high);
    const DoubleDouble exponent = lost_ ? DoubleDouble() : range.ExponentOf(j);
    drift = std::max(drift, s.drift_ + range.largest.drift_ + std::abs(exponent.high) * kDriftUnit);
    terms.push_back(exp(exponent));
    rise_.push_back(std::expm1(error) * kBoundUp);
    fall_.push_back(-std::expm1(-error) * kBoundUp);
  }
  drift_ = std::expm1(2 * drift);
  SetWeights(terms);
}

// Of a number of that magnitude; where it is kept before the division, up to the unit of itself.
double SoftmaxRow<Counted>::Rounding(const StepRule& rule, double magnitude) const {
  if (!tiled_) return RoundingError(rule, magnitude, 0);
  const double unit = UnitOf(rule.format);
  return magnitude * unit / (1 - unit) + LeastOf(rule);
}

void SoftmaxRow<Counted>::SetWeights(const std::vector<DoubleDouble>& terms) {
  const StepRule& rule = CurrentRule();
  const size_t n = terms.size();
  const auto count = static_cast<double>(n);
  for (const DoubleDouble& term : terms) sum_ += term;
  for (const DoubleDouble& term : terms) {
    Counted p;
    p.center_ = term / sum_;
    if (n > 1) p.drift_ = p.center_.high * (2 * drift_ + (count + 4) * kDriftUnit) + kTinyDrift;
    if (!rule.exact) p.format_ = rule.format;
    p.saturated_ = saturated_;
    rises_ += p.center_.high * rise_[weights_.size()];
    falls_ += p.center_.high * fall_[weights_.size()];
    weights_.push_back(p);
  }
  // The sum is at least its largest term, and the exact sum at most n times that.
  double underflow = 0;
  if (!rule.exact && n > 1) {
    const double unit = UnitOf(rule.format);
    const SumError off = RelativeErrorOfSum(rule, n);
    const auto of_reciprocal = [&](double of_sum) {
      of_sum += raises_ * unit;
      const double most = of_sum < 1 ? std::min(of_sum / (1 - of_sum), count - 1) : count - 1;
      return (1 + most) * (1 + unit) - 1;
    };
    common_ = of_reciprocal(off.worst);
    likely_common_ = of_reciprocal(off.likely);
    underflow = rule.flushes ? LeastOf(rule) : rule.ulps * LeastOf(rule);
    if (!(count * (1 + off.worst) * 2 < MaxFinite(rule.format))) lost_ = true;
  }
  for (size_t j = 0; j < n; ++j) {
    Counted& p = weights_[j];
    shift_.push_back(ShiftOf(j));
    const double most = (p.center_.high + shift_[j]) * (1 + common_);
    own_.push_back(0);
    if (!rule.exact && n > 1) {
      // Terms below the smallest normal number are off by `underflow`, and their sum by n times it.
      own_[j] = Rounding(rule, most) + 2 * underflow * (1 + count * most);
    }
    const double likely = (p.center_.high + shift_[j]) * (1 + likely_common_) * likely_common_;
    p.SetError((shift_[j] + most * common_ + own_[j]) * kBoundUp,
               (shift_[j] + likely + own_[j]) * kBoundUp);
    if (lost_) p.SetError(kInfinity, kInfinity);
  }
}

// How far exponents that are off may move weight j: with all others moved the other way.
double SoftmaxRow<Counted>::ShiftOf(size_t j) const {
  if (weights_.size() == 1) return 0;
  const double p = weights_[j].center_.high;
  const double rest = (DoubleDouble(1.0) - weights_[j].center_).high;
  const double slack = (rises_ + falls_) * 0x1p-50;  // of the differences
  const double rise = Difference(rises_, p * rise_[j]) + slack;
  const double fall = Difference(falls_, p * fall_[j]) + slack;
  const double up = p * (rise_[j] * rest + fall) / (Difference(rest, fall) + p * (1 + rise_[j]));
  const double down = p * (fall_[j] * rest + rise) / (rest + rise + p * (1 - fall_[j]));
  const double most_up = std::isnan(up) ? rest : std::min(up, rest);
  const double most_down = std::isnan(down) ? p : std::min(down, p);
  return std::max(0.0, std::max(most_up, most_down)) * kBoundUp;
}

}  // namespace sextant
