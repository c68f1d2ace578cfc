#include "reference/layer/centered_row.h"

#include <algorithm>
#include <cmath>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/layer/centered_row.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/counted/lane_sums-inl.h"
#include "reference/number/counted/rounding_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class D>
HWY_INLINE void AddLanes(D d, hn::VFromD<D> lanes, double& to) {
  to += hn::GetLane(hn::SumOfLanes(d, lanes));
}

void SumExact(const double* x, size_t count, RowSums& sums) {
  InTwoParts(count, [&](auto d, size_t first, size_t last) HWY_ATTR {
    LaneSums centers(d);
    auto size = hn::Zero(d);
    for (size_t j = first; j < last; j += hn::Lanes(d)) {
      const auto value = hn::LoadU(d, x + j);
      centers.Add(value);
      size = hn::Add(size, hn::Mul(hn::Abs(value), hn::Set(d, 1 + 0x1p-50)));
    }
    double of_part = 0;
    AddLanes(d, size, of_part);
    centers.AddTo(last - first, of_part, sums.center, sums.rounding);
    sums.size += of_part;
  });
}

// The error of rounding numbers in a step, which is 0 if the step is exact.
template <class D>
class StepRounding {
 public:
  using V = hn::VFromD<D>;
  HWY_INLINE StepRounding(D d, bool exact, const FormatUnits& units)
      : zero_(hn::Zero(d)), exact_(exact), of_format_(d, units) {}
  HWY_INLINE V operator()(V most) const { return exact_ ? zero_ : of_format_(most); }

 private:
  V zero_;
  bool exact_;
  RoundingOf<D> of_format_;
};

// The product of a number with itself, without a rounding error. The centre leaves out 2 high low,
// at most 2^-52 of it, and rounds.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> SquareOf(D d, const CountedVector<V>& x) {
  const V size = MagnitudeOf(d, x.center.high, x.drift);
  const auto through = [&](V e) HWY_ATTR { return hn::Mul(hn::Add(hn::Add(size, size), e), e); };
  const V square = hn::Mul(x.center.high, x.center.high);
  const V own = hn::Add(hn::Mul(square, hn::Set(d, 0x1p-51)), hn::Set(d, kTinyDrift));
  return {
      {square, hn::Zero(d)}, through(x.error), through(x.likely), hn::Add(through(x.drift), own)};
}

// x + y without a rounding error, for exact x.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> SumWithExact(D d, V x, const CountedVector<V>& y) {
  const auto center = SumOf(y.center, x);
  return {center, y.error, y.likely, hn::Add(y.drift, DriftOf(d, center.high, 4))};
}

// A sum with 0 is not rounded.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void RoundSum(D d, V x, const StepRounding<D>& rounding, CountedVector<V>& sum) {
  const V own = hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), rounding(LargestOf(d, sum)));
  sum.error = hn::Add(sum.error, own);
  sum.likely = hn::Add(sum.likely, own);
}

// The RowSums of a part, in each lane.
template <class D>
class LanesOfSums {
 public:
  using V = hn::VFromD<D>;
  HWY_INLINE explicit LanesOfSums(D d) : d_(d), centers_(d) {}
  // Adds a number of this size.
  HWY_INLINE void Add(const CountedVector<V>& x, V size) {
    largest_ = hn::Max(largest_, hn::Add(size, x.error));
    error_squares_ = hn::Add(error_squares_, hn::Mul(x.error, x.error));
    const V twice = hn::Add(size, size);
    changes_ = hn::Add(changes_, hn::Mul(hn::Add(twice, x.error), x.error));
  }
  HWY_INLINE void AddSquare(const CountedVector<V>& square) {
    centers_.Add(square.center.high);
    error_ = hn::Add(error_, square.error);
    likely_ = hn::Add(likely_, square.likely);
    drift_ = hn::Add(drift_, square.drift);
    size_ = hn::Add(size_, LargestOf(d_, square));
  }
  HWY_INLINE void AddTo(size_t count, RowSums& sums) const {
    centers_.AddTo(count, sums.center, sums.rounding);
    AddLanes(d_, error_, sums.error);
    AddLanes(d_, likely_, sums.likely);
    AddLanes(d_, drift_, sums.drift);
    AddLanes(d_, size_, sums.size);
    AddLanes(d_, error_squares_, sums.error_squares);
    AddLanes(d_, changes_, sums.changes);
    sums.largest = std::max(sums.largest, hn::GetLane(hn::MaxOfLanes(d_, largest_)));
  }

 private:
  D d_;
  LaneSums<D> centers_;
  V error_ = hn::Zero(d_), likely_ = hn::Zero(d_), drift_ = hn::Zero(d_), size_ = hn::Zero(d_);
  V largest_ = hn::Zero(d_), error_squares_ = hn::Zero(d_), changes_ = hn::Zero(d_);
};

// Elements first .. last - 1.
template <class D>
HWY_INLINE void CenterPart(D d, const RowToCenter& row, size_t first, size_t last, RowSums& sums) {
  using V = hn::VFromD<D>;
  const StepRounding<D> center(d, row.rules.center.exact, FormatUnits(row.rules.center));
  const StepRounding<D> square(d, row.rules.square.exact, FormatUnits(row.rules.square));
  const CountedNumbers& s = row.shift;
  const CountedVector<V> shift{{hn::Set(d, *s.high), hn::Set(d, *s.low)},
                               hn::Set(d, *s.error),
                               hn::Set(d, *s.likely),
                               hn::Set(d, *s.drift)};
  LanesOfSums lanes(d);
  for (size_t j = first; j < last; j += hn::Lanes(d)) {
    const V x = hn::LoadU(d, row.x + j);
    auto y = SumWithExact(d, x, shift);
    RoundSum(d, x, center, y);
    StoreCounted(d, y, row.to, j);
    const V size = hn::Add(hn::Mul(hn::Abs(y.center.high), hn::Set(d, kBoundUp)), y.drift);
    hn::StoreU(size, d, row.sizes + j);
    lanes.Add(y, size);
    auto of_square = SquareOf(d, y);
    const V rounding = square(LargestOf(d, of_square));
    of_square.error = hn::Add(of_square.error, rounding);
    of_square.likely = hn::Add(of_square.likely, rounding);
    lanes.AddSquare(of_square);
  }
  lanes.AddTo(last - first, sums);
}

void Center(const RowToCenter& row, size_t count, RowSums& sums) {
  InTwoParts(count, [&](auto d, size_t first, size_t last)
                        HWY_ATTR { CenterPart(d, row, first, last, sums); });
}

bool HaveDrift(const double* drift, size_t count) {
  bool all = true;
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    all = all && hn::AllTrue(d, hn::Gt(hn::LoadU(d, drift + j), hn::Zero(d)));
  });
  return all;
}

void AddRow(const double* b, const StepRule& rule, bool converts, const CountedSpan& y) {
  const FormatUnits units(rule);
  ForEachVector(y.count, [&](auto d, size_t j) HWY_ATTR {
    const StepRounding<decltype(d)> rounding(d, rule.exact, units);
    auto number = LoadCounted(d, y.numbers, j);
    if (converts) {
      const auto own = rounding(LargestOf(d, number));
      number.error = hn::Add(number.error, own);
      number.likely = hn::Add(number.likely, own);
    }
    const auto x = hn::LoadU(d, b + j);
    auto sum = SumWithExact(d, x, number);
    RoundSum(d, x, rounding, sum);
    StoreCounted(d, sum, y.numbers, j);
  });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SumExact);
HWY_EXPORT(Center);
HWY_EXPORT(HaveDrift);
HWY_EXPORT(AddRow);

}  // namespace

CountedSum SumOfExact(const ExactSpan& x) {
  RowSums sums;
  HWY_DYNAMIC_DISPATCH(SumExact)(x.values.data(), x.values.size(), sums);
  return {sums.center, sums.rounding, 0, sums.size, x.values.size()};
}

CenteredSums CenterRow(const ExactSpan& x, const Counted& shift, const CenterRules& rules,
                       const CountedNumbers& to, std::span<double> sizes) {
  CountedArrays of_shift(1);
  of_shift.Set(0, shift);
  const size_t count = x.values.size();
  RowSums sums;
  HWY_DYNAMIC_DISPATCH(Center)
  ({x.values.data(), of_shift.numbers(), rules, to, sizes.data()}, count, sums);
  const Counted squares = Counted::Of(sums.center, sums.drift, std::nullopt, false)
                              .WithError({sums.error, sums.likely});
  return {
      {squares, sums.rounding, sums.size, count}, sums.largest, sums.error_squares, sums.changes};
}

bool AddExact(std::span<const double> b, const StepRule& rule, const CountedSpan& y) {
  if (!HWY_DYNAMIC_DISPATCH(HaveDrift)(y.numbers.drift, y.count)) return false;
  const bool converts = !rule.exact && !(y.format && Contains(rule.format, *y.format));
  HWY_DYNAMIC_DISPATCH(AddRow)(b.data(), rule, converts, y);
  return true;
}

}  // namespace sextant
#endif
