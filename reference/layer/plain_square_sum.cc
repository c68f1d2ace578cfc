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
#include "reference/number/counted/lane_sums-inl.h"
#include "reference/number/counted/rounding_vectors-inl.h"
#include "reference/number/counted/sum_of_terms.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Replaces exact doubles whose squares are doubles, too.
void SquareExact(const StepRule& rule, size_t count, const CountedNumbers& x) {
  const FormatUnits units(rule);
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    const RoundingOf rounding(d, units);
    const auto value = hn::LoadU(d, x.high + j), square = hn::Mul(value, value);
    const auto magnitude = hn::Mul(square, hn::Set(d, 1 + 0x1p-50));
    const auto error = hn::IfThenElse(rounding.IsValue(square), hn::Zero(d), rounding(magnitude));
    hn::StoreU(square, d, x.high + j);
    hn::StoreU(error, d, x.error + j);
    hn::StoreU(error, d, x.likely + j);
  });
}

// Adds numbers first .. last - 1.
template <class D>
HWY_INLINE void AddSquares(D d, const FormatUnits& units, const double* x, size_t first,
                           size_t last, double* sizes, SquaresOfExact& sums) {
  using V = hn::VFromD<D>;
  const RoundingOf rounding(d, units);
  V errors = hn::Zero(d), all = hn::Zero(d), largest = hn::Zero(d);
  LaneSums centers(d);
  for (size_t j = first; j < last; j += hn::Lanes(d)) {
    const V value = hn::LoadU(d, x + j), square = hn::Mul(value, value);
    const V magnitude = hn::Mul(square, hn::Set(d, 1 + 0x1p-50));
    const V error = hn::IfThenElse(rounding.IsValue(square), hn::Zero(d), rounding(magnitude));
    const V size = hn::Mul(hn::Abs(value), hn::Set(d, kBoundUp));
    centers.Add(square);
    errors = hn::Add(errors, error);
    all = hn::Add(all, hn::Add(magnitude, error));
    largest = hn::Max(largest, size);
    hn::StoreU(size, d, sizes + j);
  }
  centers.AddTo(last - first, sums.center, sums.rounding);
  sums.error += hn::GetLane(hn::SumOfLanes(d, errors));
  sums.size += hn::GetLane(hn::SumOfLanes(d, all));
  sums.largest = std::max(sums.largest, hn::GetLane(hn::MaxOfLanes(d, largest)));
}

void SumSquares(const StepRule& rule, const double* x, size_t count, double* sizes,
                SquaresOfExact& sums) {
  const FormatUnits units(rule);
  InTwoParts(count, [&](auto d, size_t first, size_t last)
                        HWY_ATTR { AddSquares(d, units, x, first, last, sizes, sums); });
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
HWY_EXPORT(SumSquares);

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

// What the numbers of a row are, so that vectors can square them.
enum class Squares { kOfExact, kOfEnclosed, kSpecial };

bool IsPlain(const StepRule& square, const StepRule& sum) {
  return !square.flushes && !sum.flushes &&
         (sum.exact || (!square.exact && Contains(sum.format, square.format)));
}

// The sum of the squares of the numbers, which it replaces.
std::optional<CountedSum> SumOfSquares(const CountedNumbers& x, size_t count, Squares squares,
                                       const StepRule& square) {
  if (squares == Squares::kSpecial) return {};
  if (squares == Squares::kOfExact) {
    HWY_DYNAMIC_DISPATCH(SquareExact)(square, count, x);
  } else if (!HWY_DYNAMIC_DISPATCH(SquareEnclosed)(square, count, x)) {
    return {};
  }
  return Total(x, count, square.exact || square.format == DType::kF64);
}

// Of numbers that are values of the step's format.
Squares SquaresOf(const CountedSpan& x, const StepRule& square) {
  const auto [high, low, error, likely, drift] = x.numbers;
  // Squares of values of f32 are doubles.
  bool exact = !square.exact && x.format && Contains(DType::kF32, *x.format), enclosed = true;
  for (size_t j = 0; j < x.count; ++j) {
    exact = exact && error[j] + drift[j] + std::abs(low[j]) == 0 && std::isfinite(high[j]);
    enclosed = enclosed && drift[j] > 0 && std::isfinite(error[j] + drift[j]);
  }
  return exact ? Squares::kOfExact : enclosed ? Squares::kOfEnclosed : Squares::kSpecial;
}

}  // namespace

std::optional<SquaresOfExact> SumOfExactSquares(const ExactSpan& x, const StepRule& square,
                                                const StepRule& sum, std::span<double> sizes) {
  // Squares of values of f32 are doubles. For f64, see Total.
  const bool are_doubles = !square.exact && square.format != DType::kF64 &&
                           Contains(square.format, x.type) && Contains(DType::kF32, x.type);
  if (!are_doubles || !IsPlain(square, sum)) return {};
  SquaresOfExact sums;
  HWY_DYNAMIC_DISPATCH(SumSquares)(square, x.values.data(), x.values.size(), sizes.data(), sums);
  return sums;
}

std::optional<CountedSum> SumOfPlainSquares(const CountedSpan& x, const StepRule& square,
                                            const StepRule& sum, CountedArrays& memory) {
  const bool are_values = square.exact || (x.format && Contains(square.format, *x.format));
  if (!IsPlain(square, sum) || !are_values) return {};
  const CountedNumbers copy = memory.numbers();
  for (const auto array : {&CountedNumbers::high, &CountedNumbers::low, &CountedNumbers::error,
                           &CountedNumbers::likely, &CountedNumbers::drift})
    std::copy_n(x.numbers.*array, x.count, copy.*array);
  return SumOfSquares(copy, x.count, SquaresOf(x, square), square);
}

std::optional<CountedSum> SumOfPlainSquares(std::span<const Counted> x, const StepRule& square,
                                            const StepRule& sum) {
  if (!IsPlain(square, sum)) return {};
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
  return SumOfSquares(numbers.numbers(), x.size(), exact ? Squares::kOfExact : Squares::kOfEnclosed,
                      square);
}

}  // namespace sextant
#endif
