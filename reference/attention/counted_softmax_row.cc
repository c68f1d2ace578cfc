// Softmax of a row of Counted, with the bounds that softmax_row.h derives: scores, exponentials,
// weights, means, and the logarithm of the sum.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "reference/attention/mean_sums.h"
#include "reference/attention/softmax_numbers.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/counted/sum_of_terms.h"
#include "reference/number/dot/counted_factor.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/double_double/exponential_rows.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/recipe/tf32.h"

namespace sextant {
namespace {

constexpr Counted::Bounds kUnbounded{kInfinity, kInfinity};
constexpr double kLeastExponent = -600;  // below, exponentials are computed one by one

// y[i] = f(x[i]), quickly if x has few different numbers: errors that are half a unit in the last
// place have few magnitudes.
template <class F>
void ForFewNumbers(std::span<const double> x, std::vector<double>& y, F f) {
  constexpr size_t kBits = 6;
  std::array<std::pair<double, double>, size_t{1} << kBits> known;
  known.fill({kNaN, 0});
  for (size_t i = 0; i < x.size(); ++i) {
    const uint64_t hash =
        std::bit_cast<uint64_t>(x[i]) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    auto& [number, result] = known[hash >> (64 - kBits)];
    if (number != x[i]) {
      number = x[i];
      result = f(number);
    }
    y[i] = result;
  }
}

// These errors; infinite ones if they are unbounded or unknown.
Counted::Bounds Bounded(const Counted::Bounds& error, bool unbounded) {
  return unbounded || std::isnan(error.worst) ? kUnbounded : error;
}

}  // namespace

// Rounding error of a number of this magnitude. With tiling, the number is rounded while multiplied
// by an unknown factor: the bound is one unit roundoff of the number, not half an ulp.
double SoftmaxRow<Counted>::Rounding(const StepRule& rule, double magnitude) const {
  if (!tiled_) return RoundingError(rule, magnitude, 0);
  const double unit = UnitRoundoffOf(rule.format);
  return magnitude * unit / (1 - unit) + UnderflowErrorOf(rule);
}

// Weights of 8 bits are stored in units of the largest one so far, or of less (FlashAttention 3
// multiplies them by 2^8), and divided by their sum after the dot product. So underflow errs by at
// most half of the least code times the largest weight.
double SoftmaxRow<Counted>::CodeRounding(const StepRule& rule, double magnitude, double largest) {
  const double unit = UnitRoundoffOf(rule.format);
  const double underflow = rule.flushes ? MinNormal(rule.format) : MinSubnormal(rule.format) / 2;
  return (magnitude * unit / (1 - unit) + underflow * largest) * kBoundUp;
}

// The same for a weight that a dot product reads as a factor.
double SoftmaxRow<Counted>::FactorRounding(const StepRule& rule, double magnitude) const {
  if (!tiled_) return FactorError(rule.factors, magnitude);
  const double unit = RelativeFactorError(rule.factors);
  return magnitude * unit / (1 - unit) + FactorError(rule.factors, MinNormal(rule.format));
}

// The scores: what the bounds of their differences to the largest score, and the errors of the
// exponents, depend on.
struct SoftmaxRow<Counted>::Scores {
  CountedArrays converted{0};  // to the format of step softmax
  CountedNumbers numbers{};    // these, or other arrays
  Counted largest;             // the score with the largest center
  double most = -kInfinity;    // upper bound of the largest score of every implementation
  bool exact = true;           // no score has an error: all implementations find the same largest
  bool saturated = false;

  // There is at least one score.
  Scores(std::span<const Counted> scores, const StepRule& rule)
      : converted(scores.size()), numbers(converted.numbers()) {
    size_t at = 0;              // of the largest
    std::optional<DType> kept;  // a format that the step holds
    for (size_t j = 0; j < scores.size(); ++j) {
      const Counted& given = scores[j];
      const bool is_kept =
          given.format() &&
          (given.format() == kept || (!rule.flushes && Contains(rule.format, *given.format())));
      if (is_kept) kept = given.format();
      const bool keeps = rule.exact || is_kept;
      Counted other;
      const Counted& s = keeps ? given : (other = Converted(given));
      converted.Set(j, s);
      if (j == 0 || largest.center() < s.center()) {
        at = j;
        largest = s;
      }
      most = std::max(most, s.center().high + Slack(s) + s.error());
      exact = exact && s.IsExact();
      saturated = saturated || s.saturated();
    }
    largest = Converted(scores[at]);
  }
  // Of scores for which the step needs no conversion. `copy` gets the scores; `zeros` are as many.
  Scores(const ExactSpan& scores, std::span<double> copy, std::span<double> zeros)
      : numbers{copy.data(), zeros.data(), zeros.data(), zeros.data(), zeros.data()} {
    std::ranges::copy(scores.values, copy.begin());
    const double s = RangeOf(scores.values).most;
    largest = Converted(Counted(s, scores.type));
    most = s + std::abs(s) * 0x1p-50;
  }
  static double Slack(const Counted& s) { return std::abs(s.center().high) * 0x1p-50 + s.drift(); }

  // Upper bound of how often the running maximum rises, forwards or backwards, counting the first
  // score as well.
  double MaximumUpdates() {
    const auto forwards = std::views::iota(size_t{0}, converted.size());
    return std::max(UpdatesIn(forwards), UpdatesIn(std::views::reverse(forwards)));
  }
  double UpdatesIn(const auto& order) {
    const CountedNumbers& s = numbers;
    double updates = 0, least_maximum = -kInfinity;  // lower bound of the running maximum
    for (const size_t j : order) {
      const double error = std::abs(s.high[j]) * 0x1p-50 + s.drift[j] + s.error[j];
      updates += s.high[j] + error > least_maximum;
      least_maximum = std::max(least_maximum, s.high[j] - error);
    }
    return updates;
  }
};

SoftmaxRow<Counted>::SoftmaxRow(std::span<const Counted> scores, Tiling tiling)
    : weight_arrays_(scores.size()),
      weights_(weight_arrays_.numbers()),
      count_(scores.size()),
      tiled_(tiling == Tiling::kAny) {
  if (scores.empty()) return;
  const ScopedStep at(Step::kSoftmax);
  Scores from(scores, CurrentRule());
  SetFrom(from, CurrentRule());
}

void SoftmaxRow<Counted>::SetExact(const ExactSpan& scores, const CountedNumbers& weights) {
  weights_ = weights;
  count_ = scores.values.size();
  only_weights_ = true;
  exact_.resize(count_);
  zeros_.resize(count_);
  const ScopedStep at(Step::kSoftmax);
  Scores from(scores, exact_, zeros_);
  SetFrom(from, CurrentRule());
}

bool SoftmaxRow<Counted>::TakesExact(DType type) {
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  return rule.exact || (!rule.flushes && Contains(rule.format, type));
}

void SoftmaxRow<Counted>::SetFrom(Scores& from, const StepRule& rule) {
  format_ = FormatOf(rule);
  largest_ = from.largest;
  saturated_ = from.saturated;
  if (tiled_) updates_ = from.MaximumUpdates();
  const double unit = rule.exact ? 0 : UnitRoundoffOf(rule.format);
  const double exponential =  // ln(1 / (1 - relative error)), with each update
      rule.ulps * 2 * unit < 1 ? -(1 + updates_) * Log1pOf(-rule.ulps * 2 * unit) : kInfinity;
  unbounded_ = false;
  terms_.high.resize(count_);
  rise_.resize(count_);
  fall_.resize(count_);
  const ScoreRow row{count_,           from.numbers, largest_.center(),
                     largest_.drift(), from.most,    from.exact,
                     tiled_,           rule,         exponential};
  const bool by_doubles = SetTermsOfDoubles(row);
  if (!by_doubles) SetTerms(row);
  SetWeights(by_doubles);
}

bool SoftmaxRow<Counted>::SetTermsOfDoubles(const ScoreRow& scores) {
  if (!this_context.double_centers || count_ < 2) return false;
  const auto [least, most] = RangeOf({scores.scores.high, count_});
  const double largest = scores.largest.high;
  if (!(least - largest > kLeastExponent && most - largest < 1)) return false;
  const TermTotals totals =
      sextant::SetTermsOfDoubles(scores, {terms_.high.data(), rise_.data(), fall_.data()});
  if (!totals.valid) return false;
  sum_ = totals.sum;
  rise_sum_ = totals.rise / sum_.high * (1 + 0x1p-50);
  fall_sum_ = totals.fall / sum_.high * (1 + 0x1p-50);
  // Of a term, of the sum, and of the quotient (SetWeightsOfDoubles).
  own_drift_ = 3 * 0x1p-50 + totals.rounding / sum_.high * kBoundUp;
  drift_ = Expm1Of(2 * totals.drift) * kBoundUp;
  return true;
}

// Sets terms, rise and fall of scores of any size.
void SoftmaxRow<Counted>::SetTerms(const ScoreRow& scores) {
  terms_.low.resize(count_);
  std::vector<double> errors(count_);
  const double drift = SetExponents(scores, {terms_.high.data(), terms_.low.data(), errors.data()});
  const auto is_infinite = [](double x) { return !std::isfinite(x); };
  const std::span<const double> centers(scores.scores.high, count_);
  unbounded_ =
      std::ranges::any_of(errors, is_infinite) || std::ranges::any_of(centers, is_infinite);
  if (unbounded_) terms_ = {std::vector<double>(count_), std::vector<double>(count_)};
  SetRise(errors);
  SetExponentials(drift);
}

// Replaces each exponent by its exponential, and sets the drift of the weights.
void SoftmaxRow<Counted>::SetExponentials(double drift) {
  Terms& terms = terms_;
  const auto set_one = [&](size_t j) {
    const DoubleDouble term = exp(DoubleDouble{terms.high[j], terms.low[j]});
    terms.high[j] = term.high;
    terms.low[j] = term.low;
  };
  own_drift_ = 40 * kDoubleDoubleUnit;  // 12 units of each term and so of the sum, 16 of a division
  if (!this_context.double_centers) {
    sextant::SetExponentials(terms.high, terms.low);
  } else {
    std::vector<double> exponentials(count_);
    ExpOfEach(terms.high, exponentials);
    double left_out = 0;  // the largest low half of an exponent that its exponential does not have
    for (size_t j = 0; j < count_; ++j) {
      if (terms.high[j] < kLeastExponent) {  // small exponentials would lose bits
        set_one(j);
        continue;
      }
      left_out = std::max(left_out, std::abs(terms.low[j]));
      terms.high[j] = exponentials[j];
      terms.low[j] = 0;
    }
    drift += left_out;
    own_drift_ = 3 * 0x1p-50;  // of a term, of the sum, and less than 2^-50 of a rounded quotient
  }
  drift_ = Expm1Of(2 * drift) * kBoundUp;
}

void SoftmaxRow<Counted>::SetRise(std::span<const double> errors) {
  if (this_context.double_centers) {
    std::vector<double> negative;
    for (const double error : errors) negative.push_back(-error);
    Expm1OfEach(errors, rise_);
    Expm1OfEach(negative, fall_);
  } else {
    ForFewNumbers(errors, rise_, Expm1Of);
    ForFewNumbers(errors, fall_, [](double error) { return Expm1Of(-error); });
  }
  for (double& rise : rise_) rise *= kBoundUp;
  for (double& fall : fall_) fall *= -kBoundUp;
}

// The sum of the terms; sets the drift that it adds to the weights. Level 1 may add in another
// order: its bits are not those of goldens.
DoubleDouble SoftmaxRow<Counted>::Total() {
  DoubleDouble sum;
  double rounding = 0, additions = static_cast<double>(count_);  // at most, to `rounding`
  if (this_context.double_centers) {
    sum = SumOfTerms(terms_.high, terms_.low, rounding);
    additions += 16;
  } else {
    for (size_t j = 0; j < count_; ++j)
      sum = Sum(sum, DoubleDouble{terms_.high[j], terms_.low[j]}, rounding);
  }
  own_drift_ += rounding / sum.high * (1 + additions * 0x1p-52);
  return sum;
}

// By doubles, sum_, rise_sum_ and fall_sum_ are known.
void SoftmaxRow<Counted>::SetWeights(bool by_doubles) {
  const StepRule& rule = CurrentRule();
  if (!by_doubles) sum_ = Total();
  for (auto* const array : {&shift_, &rounding_}) array->resize(only_weights_ ? 0 : count_);
  WeightRow row{.count = count_,
                .weights = weights_,
                .term_high = terms_.high.data(),
                .term_low = terms_.low.data(),
                .sum = sum_,
                .rise = rise_.data(),
                .fall = fall_.data(),
                .shift = only_weights_ ? nullptr : shift_.data(),
                .rounding = only_weights_ ? nullptr : rounding_.data(),
                .double_centers = this_context.double_centers,
                .drift = Enclosing(drift_ + own_drift_),
                .rule = rule,
                .tiled = tiled_};
  if (!by_doubles) {
    SetWeightCenters(row);
    rise_sum_ = std::inner_product(rise_.begin(), rise_.end(), weights_.high, 0.0);
    fall_sum_ = std::inner_product(fall_.begin(), fall_.end(), weights_.high, 0.0);
  }
  row.underflow = SetSumError(rule);
  row.rise_sum = rise_sum_;
  row.fall_sum = fall_sum_;
  row.common = common_;
  row.likely_common = likely_common_;
  if (by_doubles) {
    SetWeightsOfDoubles(row);
  } else if (count_ > 1) {
    SetWeightErrors(row);
  } else {
    weights_.error[0] = weights_.likely[0] = 0;
    weights_.drift[0] = Enclosing(0);
  }
  if (unbounded_) {
    std::fill_n(weights_.error, count_, kInfinity);
    std::fill_n(weights_.likely, count_, kInfinity);
  }
}

// Sets the relative error common to all weights: that of the sum of the terms and of its
// reciprocal. The computed sum is at least its largest term, and the exact sum at most n times that
// term. Returns the underflow error of one term.
double SoftmaxRow<Counted>::SetSumError(const StepRule& rule) {
  const size_t n = count_;
  const auto count = static_cast<double>(n);
  common_ = likely_common_ = 0;
  if (rule.exact || n <= 1) return 0;
  const double unit = UnitRoundoffOf(rule.format);
  const SumError sum_error = RelativeErrorOfSum(rule, n);
  const auto reciprocal_error = [&](double error) {
    error += updates_ * unit;
    const double most = error < 1 ? std::min(error / (1 - error), count - 1) : count - 1;
    return most + unit + most * unit;
  };
  common_ = reciprocal_error(sum_error.worst);
  likely_common_ = reciprocal_error(sum_error.likely);
  if (!(count * (1 + sum_error.worst) * 2 < MaxFinite(rule.format))) unbounded_ = true;
  return rule.flushes ? UnderflowErrorOf(rule) : rule.ulps * UnderflowErrorOf(rule);
}

std::vector<Counted> SoftmaxRow<Counted>::weights() const {
  std::vector<Counted> all;
  all.reserve(count_);
  for (size_t j = 0; j < count_; ++j) all.push_back(Weight(j));
  return all;
}

// The weights rounded by step weigh and converted for step dot.
auto SoftmaxRow<Counted>::Stored() const -> const StoredWeights& {
  auto& [most, error] = stored_;
  if (!most.empty()) return stored_;
  most.resize(count_);
  error.resize(count_);
  double largest = 0;
  for (size_t j = 0; j < count_; ++j) {
    most[j] = weights_.high[j] + weights_.drift[j] + weights_.error[j];
    largest = std::max(largest, most[j]);
  }
  const auto charge = [&](const auto& rounding_of) {
    for (size_t j = 0; j < count_; ++j) {
      const double rounding = rounding_of(most[j]);
      error[j] += rounding;
      most[j] += rounding;
    }
  };
  bool is_within_tf32 = format_ && IsWithinTf32(*format_);
  for (const Step step : {Step::kWeigh, Step::kDot}) {
    const ScopedStep at(step);
    const StepRule& rule = CurrentRule();
    is_within_tf32 = is_within_tf32 || (!rule.exact && IsWithinTf32(rule.format));
    if (rule.exact || (format_ && Contains(rule.format, *format_))) continue;
    if (SizeOf(rule.format) == 1)
      charge([&](double weight) { return CodeRounding(rule, weight, largest); });
    else
      charge([&](double weight) { return Rounding(rule, weight); });
  }
  if (is_within_tf32) return stored_;
  const ScopedStep at(Step::kDot);
  charge([&](double weight) { return FactorRounding(CurrentRule(), weight); });
  return stored_;
}

// The mean of values with the weights of a SoftmaxRow<Counted>, and its error bound, one term per
// source of error. p: exact weights; p~: weights of exponents with errors; w': weights as an
// implementation stores them; v': values with errors. Then
//   sum w' v' - sum p v = sum (w' - p~) v' + sum p~ (v' - v) + sum (p~ - p) v.
// For errors D_j of the exponents, |D_j| <= E_j, the last term is
//   sum p_j (e^D_j - 1) (v_j - y) / sum p_j e^D_j.
// It is also at most the range of the values.
class SoftmaxRow<Counted>::WeightedMean {
 public:
  // To be constructed and used in step dot; the row must not be empty and must outlive this.
  explicit WeightedMean(const SoftmaxRow& row);

  // The mean of one value for each weight.
  Counted Of(std::span<const Counted> values) const {
    Counted mean;
    SetMean(SumsOf(values), mean);
    return mean;
  }
  // The means of the first y.size() columns of plain rows, one row for each weight.
  void OfPlain(std::span<const float* const> rows, size_t width, std::span<Counted> y) const;
  // False if a weight is so small that a plain product could underflow.
  bool TakesPlain() const { return takes_plain_; }

 private:
  // Errors of the scores: sum (p~ - p) v.
  struct ErrorOfScores {
    double error;     // at most `range`
    double range;     // of the values
    double largest;   // magnitude of a value
    bool only_range;  // the range is the only bound
  };
  MeanSums SumsOf(std::span<const Counted> values) const;
  void AddDistances(std::span<const Counted> values, MeanSums& sums) const;
  void SetMean(const MeanSums& sums, Counted& mean) const;
  ErrorOfScores ScoreErrors(const MeanSums& sums, double drift) const;
  double Unit() const;

  const SoftmaxRow& row_;
  const StepRule& rule_;
  const double count_;
  const double tiny_drift_ = count_ * kTinyDrift;  // once: subnormal factors are slow
  std::vector<double> rise_;
  MeanWeights weights_;
  SumError sum_error_;
  double storing_ = 0;  // the part of sum |w' - p~| that storing the weights adds
  bool takes_plain_ = true;
};

SoftmaxRow<Counted>::WeightedMean::WeightedMean(const SoftmaxRow& row)
    : row_(row), rule_(CurrentRule()), count_(static_cast<double>(row.count_)), rise_(row.count_) {
  constexpr double kLeast = 0x1p-900;  // double_double.h
  const StoredWeights& stored = row.Stored();
  const CountedNumbers& p = row.weights_;
  for (size_t j = 0; j < row.count_; ++j) {
    rise_[j] = p.high[j] * row.rise_[j];
    storing_ += stored.error[j];
    takes_plain_ = takes_plain_ && (p.high[j] == 0 || p.high[j] >= kLeast);
  }
  weights_ = {.high = {p.high, row.count_},
              .low = {p.low, row.count_},
              .drift = {p.drift, row.count_},
              .rise = rise_,
              .rounding = row.rounding_,
              .most = stored.most,
              .storing = stored.error,
              .relative_drift = (row.drift_ + row.own_drift_) * kBoundUp * kBoundUp};
  if (!rule_.exact) sum_error_ = RelativeErrorOfSum(rule_, row.count_);
}

double SoftmaxRow<Counted>::WeightedMean::Unit() const {
  return rule_.exact ? 0 : UnitRoundoffOf(rule_.format);
}

void SoftmaxRow<Counted>::WeightedMean::OfPlain(std::span<const float* const> rows, size_t width,
                                                std::span<Counted> y) const {
  std::vector<MeanSums> sums;
  // The mean of one row is exact, at level 1 too.
  SumPlainColumns(weights_, rows, width, this_context.double_centers && rows.size() > 1, sums);
  for (size_t e = 0; e < y.size(); ++e) SetMean(sums[e], y[e]);
}

MeanSums SoftmaxRow<Counted>::WeightedMean::SumsOf(std::span<const Counted> given) const {
  MeanSums sums{.least = kInfinity, .most = -kInfinity};
  std::vector<Counted> values;
  DoubleDouble centre;
  for (size_t j = 0; j < weights_.high.size(); ++j) {
    const Counted& v = values.emplace_back(ConvertedFactor(given[j]));
    const double magnitude = v.Magnitude() + v.error();
    centre =
        Sum(centre, DoubleDouble(weights_.high[j], weights_.low[j]) * v.center(), sums.rounding);
    sums.drift += weights_.high[j] * v.drift() + magnitude * weights_.drift[j];
    sums.least = std::min(sums.least, v.center().high - v.error());
    sums.most = std::max(sums.most, v.center().high + v.error());
    sums.values += (weights_.high[j] + row_.shift_[j]) * v.error();
    const double product = weights_.most[j] * magnitude;
    if (!rule_.exact && !row_.tiled_) sums.products += RoundingError(rule_, product, 0);
    sums.size += product;
    sums.saturated = sums.saturated || v.saturated();
  }
  sums.high = centre.high;
  sums.low = centre.low;
  AddDistances(values, sums);
  return sums;
}

void SoftmaxRow<Counted>::WeightedMean::AddDistances(std::span<const Counted> values,
                                                     MeanSums& sums) const {
  for (size_t j = 0; j < values.size(); ++j) {
    const Counted& v = values[j];
    const double magnitude = v.Magnitude() + v.error();
    const double distance = std::abs(v.center().high - sums.high) + magnitude * 0x1p-50;
    sums.scores += weights_.rise[j] * distance;
    sums.weights += weights_.rounding[j] * magnitude +
                    weights_.storing[j] * (row_.tiled_ ? std::max(magnitude, distance) : magnitude);
  }
}

auto SoftmaxRow<Counted>::WeightedMean::ScoreErrors(const MeanSums& sums, double drift) const
    -> ErrorOfScores {
  const double least_sum = 1 - row_.fall_sum_;  // sum p_j e^-E_j
  const double error =
      (sums.scores + row_.rise_sum_ * (drift + std::abs(sums.high) * 0x1p-50)) / least_sum;
  const double range = sums.most - sums.least;
  const bool only_range = !(least_sum > 0 && error < range);
  return {only_range ? range : error, range, std::max(std::abs(sums.least), std::abs(sums.most)),
          only_range};
}

// With the error from all sources.
void SoftmaxRow<Counted>::WeightedMean::SetMean(const MeanSums& sums, Counted& mean) const {
  double products = sums.products;
  if (!rule_.exact && row_.tiled_)
    products = Unit() * sums.size + (count_ + row_.updates_) * UnderflowErrorOf(rule_);
  const double size = sums.size + products;
  const double rounding = 8 * kDoubleDoubleUnit * size + sums.rounding * (1 + count_ * 0x1p-52);
  const double up = kBoundUp * (1 + count_ * 0x1p-52);
  const double drift = (sums.drift + rounding) * up + tiny_drift_;
  const ErrorOfScores scores = ScoreErrors(sums, drift);
  double error = scores.error + sums.values + sums.weights + products;
  if (row_.tiled_) error += storing_ * (scores.error + sums.values);  // error of |v_j - y|
  const double largest_mean = std::abs(sums.high) + scores.error + sums.values;
  const double rescaling = row_.updates_ * Unit() * size;
  // sum_error: relative error of the additions; common: relative error common to all weights.
  const auto total = [&](double sum_error, double common) {
    return (error + largest_mean * common + sum_error * size + rescaling) * up;
  };
  const bool saturated =
      sums.saturated || row_.saturated_ || (scores.only_range && scores.range > 0);
  const double largest = row_.tiled_ ? count_ * scores.largest : size;
  const bool overflows = !rule_.exact && !(largest * 2 < MaxFinite(rule_.format));
  const DoubleDouble centre(sums.high, sums.low);
  // The permitted error includes rise_sum / (1 - fall_sum) times the drift. Where that is more than
  // half of it, level 1 does not enclose: its permitted errors would be too large.
  const bool is_loose = this_context.double_centers && !(2 * row_.rise_sum_ <= 1 - row_.fall_sum_);
  const double enclosing = is_loose ? kInfinity : row_.Enclosing(drift);
  const Counted::Bounds bounds{total(sum_error_.worst, row_.common_),
                               total(sum_error_.likely, row_.likely_common_)};
  std::construct_at(&mean, centre, Bounded(bounds, row_.unbounded_ || overflows), enclosing,
                    FormatOf(rule_), saturated);
}

Counted SoftmaxRow<Counted>::Mean(std::span<const Counted> values) const {
  if (count_ == 0) return Counted();
  const ScopedStep at(Step::kDot);
  if (count_ == 1 && !unbounded_) return ConvertedFactor(values[0]);  // the weight is 1
  return WeightedMean(*this).Of(values);
}

void SoftmaxRow<Counted>::Means(const ValueRows<Counted>& values, std::span<const size_t> keys,
                                std::span<Counted> y) const {
  const bool many = count_ > 1;
  const ScopedStep at(Step::kDot);
  const WeightedMean* mean = nullptr;
  std::optional<WeightedMean> storage;
  if (many || unbounded_) mean = &storage.emplace(*this);
  if (mean && mean->TakesPlain() && tiled_ && values.PlainWidth() > 0) {
    const std::vector<float> zeros(values.PlainWidth());
    std::vector<const float*> rows;
    for (const size_t key : keys) rows.push_back(values.Plain(key));
    rows.resize(count_, zeros.data());
    return mean->OfPlain(rows, values.PlainWidth(), y);
  }
  std::vector<Counted> column(count_);
  for (size_t e = 0; e < y.size(); ++e) {
    for (size_t j = 0; j < keys.size(); ++j) column[j] = values[keys[j]][e];
    y[e] = mean ? mean->Of(column) : Mean(column);
  }
}

namespace {

// What the error of c + ln sum depends on. It consists of the inherited error of the exact sum, at
// most the largest error of an exponent, and of the errors of the computed sum, of the logarithm
// and of the addition. Implementations with logarithms to base 2 (covered with tiling) also
// multiply both parts by ln 2.
//
// Let c be a sink that is larger than the largest score m by a = c - m, and is subtracted instead.
// Then the exponents s_j - c have up to u (3 a + |m|) more of error: the rounding of the
// difference, and with base 2 those of s_j and of the product, also where s_j = m. The exponential
// of the largest is rounded too; the sum is between e^-a and n, so that underflow errors are up to
// e^a times as large relative to it; and its logarithm is between -a and ln n.
struct LogOfSum {
  const StepRule& rule;
  size_t count;
  bool tiled;
  double updates, inherited;
  double largest, largest_error;  // the magnitude of the largest score
  double logarithm, center;       // of the sum; c + ln sum

  // `above`: how far the number that is subtracted lies above the largest score.
  double ErrorFrom(double above, double sum_error) const {
    if (rule.exact) return inherited * kBoundUp;
    const double unit = UnitRoundoffOf(rule.format);
    double error = inherited, size = largest + largest_error + above;
    if (count > 1 || above > 0) {
      const double least_sum = std::exp(-above) * (1 - 0x1p-40);
      double relative = sum_error + updates * unit +
                        static_cast<double>(count) * rule.ulps * UnderflowErrorOf(rule) / least_sum;
      if (above > 0) {
        error += unit * (3 * above + largest + largest_error);
        relative += rule.ulps * 2 * unit;
      }
      error += relative < 1 ? -Log1pOf(-relative) : kInfinity;
      const double of_sum = std::abs(logarithm - above);
      error += rule.ulps * UlpOf(rule.format, of_sum + error);
      error += RoundingError(rule, std::abs(center) + error, 0);
      size += of_sum;
    }
    return (tiled ? error + 3 * unit * (size + error) : error) * kBoundUp;
  }
};

}  // namespace

Counted SoftmaxRow<Counted>::LogSumExp(const Counted* sink) const {
  const ScopedStep at(Step::kSoftmax);
  const StepRule& rule = CurrentRule();
  const size_t n = count_;
  const DoubleDouble logarithm = n > 1 ? log(sum_) : DoubleDouble();
  const DoubleDouble center = largest_.center() + logarithm;
  const double largest = std::abs(largest_.center().high);
  double drift = largest_.drift();
  if (n > 1) {
    const double size = largest + logarithm.high + 1;
    drift += (drift_ + own_drift_ + size * 40 * kDoubleDoubleUnit) * kBoundUp;
  }
  const double of_exponents = Log1pOf(*std::ranges::max_element(rise_));
  const LogOfSum of{
      .rule = rule,
      .count = n,
      .tiled = tiled_,
      .updates = updates_,
      .inherited = std::min(of_exponents, std::max(Log1pOf(rise_sum_), -Log1pOf(-fall_sum_))),
      .largest = largest,
      .largest_error = largest_.error(),
      .logarithm = logarithm.high,
      .center = center.high};
  double above = 0;
  if (sink) {
    const Counted c = Converted(*sink);
    above = (c.center().high - largest_.center().high) + largest_.error() + c.error() +
            Scores::Slack(c) + Scores::Slack(largest_);
  }
  const auto error = [&](double sum_error) {
    const double own = of.ErrorFrom(0, sum_error);
    return above > 0 ? std::max(own, of.ErrorFrom(above, sum_error)) : own;  // NaN: no number
  };
  const SumError sum = n > 1 && !rule.exact ? RelativeErrorOfSum(rule, n) : SumError();
  return Counted(center, Bounded({error(sum.worst), error(sum.likely)}, unbounded_),
                 Enclosing(drift), FormatOf(rule), saturated_);
}

}  // namespace sextant
