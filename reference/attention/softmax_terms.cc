// The exponentials of a SoftmaxRow<Counted>, and the errors that they pass on.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "reference/attention/softmax_numbers.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/double_double/exponential_rows.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

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

constexpr double kLeastExponent = -600;  // below, exponentials are computed one by one

}  // namespace

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

}  // namespace sextant
