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

// Replaces each exponent by its exponential, and sets the drift of the weights.
void SoftmaxRow<Counted>::SetTerms(Terms& terms, double drift) {
  const auto set_one = [&](size_t j) {
    const DoubleDouble term = exp(DoubleDouble{terms.high[j], terms.low[j]});
    terms.high[j] = term.high;
    terms.low[j] = term.low;
  };
  own_drift_ = 40 * kDoubleDoubleUnit;  // 12 units of each term and so of the sum, 16 of a division
  if (!this_context.double_centers) {
    SetExponentials(terms.high, terms.low);
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
  rise_.resize(errors.size());
  fall_.resize(errors.size());
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
