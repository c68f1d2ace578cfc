#include "reference/layer/plain_square_sum.h"

#include <algorithm>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/layer/plain_square_sum.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/counted/rounding_vectors-inl.h"
#include "reference/number/counted/sum_of_terms.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Replaces exact doubles whose squares are doubles, too.
void SquareExact(const StepRule& rule, size_t count, const CountedNumbers& x) {
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    const RoundingOf rounding(d, rule);
    const auto value = hn::LoadU(d, x.high + j), square = hn::Mul(value, value);
    const auto magnitude = hn::Mul(square, hn::Set(d, 1 + 0x1p-50));
    const auto error = hn::IfThenElse(rounding.IsValue(square), hn::Zero(d), rounding(magnitude));
    hn::StoreU(square, d, x.high + j);
    hn::StoreU(error, d, x.error + j);
    hn::StoreU(error, d, x.likely + j);
  });
}

// Replaces numbers whose drift is not 0. False if one is a special case.
bool SquareEnclosed(const StepRule& rule, size_t count, const CountedNumbers& x) {
  const OrdinaryRange format(rule);
  bool all = true;
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    Ordinary ordinary(d);
    const auto number = LoadCounted(d, x, j);
    auto square = ProductOf(d, number, number);
    Round(d, format, square, ordinary);
    ordinary.Require(hn::Gt(hn::Abs(square.center.high), hn::Set(d, 0x1p-900)));
    StoreCounted(d, square, x, j);
    all = all && hn::AllTrue(d, hn::Gt(ordinary.marks(), hn::Zero(d)));
  });
  return all;
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SquareExact);
HWY_EXPORT(SquareEnclosed);

// True if conversion to the format of the rule changes nothing but the format.
bool IsValueOf(const StepRule& rule, const Counted& x) {
  return rule.exact || (x.format() && Contains(rule.format, *x.format()));
}
// The sum of terms, as CountedSum::Add. In f64 the last bits of the drift show in permitted errors,
// so there the order is that of the terms.
CountedSum Total(const CountedNumbers& x, size_t count, bool in_order) {
  double rounding = 0, error = 0, likely = 0, drift = 0, size = 0;
  DoubleDouble center;
  for (size_t j = 0; j < count; ++j) {
    if (in_order) center = Sum(center, DoubleDouble{x.high[j], x.low[j]}, rounding);
    error += x.error[j];
    likely += x.likely[j];
    drift += x.drift[j];
    size += std::abs(x.high[j]) * (1 + 0x1p-50) + x.drift[j] + x.error[j];
  }
  if (!in_order) center = SumOfTerms({x.high, count}, {x.low, count}, rounding);
  return {Counted::Of(center, drift, std::nullopt, false).WithError({error, likely}), rounding,
          size, count};
}

}  // namespace

std::optional<CountedSum> SumOfPlainSquares(std::span<const Counted> x, const StepRule& square,
                                            const StepRule& sum) {
  const bool fits = sum.exact || (!square.exact && Contains(sum.format, square.format));
  if (square.flushes || sum.flushes || !fits) return {};
  bool exact = !square.exact, enclosed = true;  // squares of values of f32 are doubles
  CountedArrays numbers(x.size());
  for (size_t j = 0; j < x.size(); ++j) {
    const double value = x[j].center().high;
    if (x[j].saturated() || !IsValueOf(square, x[j])) return {};
    exact = exact && x[j].IsExact() && x[j].center().low == 0 && std::isfinite(value) &&
            IsRepresentable(DType::kF32, value);
    enclosed = enclosed && x[j].drift() > 0 && std::isfinite(x[j].error() + x[j].drift());
    if (!exact && !enclosed) return {};
    numbers.Set(j, x[j]);
  }
  const CountedNumbers squares = numbers.numbers();
  if (exact) {
    HWY_DYNAMIC_DISPATCH(SquareExact)(square, x.size(), squares);
  } else if (!HWY_DYNAMIC_DISPATCH(SquareEnclosed)(square, x.size(), squares)) {
    return {};
  }
  return Total(squares, x.size(), square.exact || square.format == DType::kF64);
}

}  // namespace sextant
#endif
