#include "reference/number/lanes/lane_arrays.h"
#include "reference/number/recipe/rounding_units.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/lanes/lane_arithmetic.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/lanes/counted_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> AreDoubles(D d, const CountedVector<V>& a, const CountedVector<V>& b) {
  const V zero = hn::Zero(d);
  return hn::And(hn::And(IsExact(d, a), IsExact(d, b)),
                 hn::And(hn::Eq(a.center.low, zero), hn::Eq(b.center.low, zero)));
}

uint64_t AddEach(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b, LaneArrays& y) {
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    const auto left = OperandAt(d, rule, a, i, ordinary);
    const auto right = OperandAt(d, rule, b, i, ordinary);
    ordinary.Require(hn::Not(hn::Or(IsZero(d, left), IsZero(d, right))));
    auto sum = SumOf(d, left, right);
    sum.drift = hn::IfThenZeroElse(AreDoubles(d, left, right), sum.drift);
    Finish(d, rule, {}, sum, ordinary);
    StoreLanes(d, sum, y, i);
  });
}

// Exactly 2^n or -2^n. Requires that exact numbers are 0 or normal doubles.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsPowerOfTwo(D d, const CountedVector<V>& x, Ordinary<D>& ordinary) {
  const V zero = hn::Zero(d);
  const auto exact = IsExact(d, x);
  const auto is_small = hn::Eq(BinadeOf(d, x.center.high), zero);
  ordinary.Require(hn::Not(hn::And(is_small, hn::Ne(x.center.high, zero))));
  const auto has_one_bit = HasNone(d, x.center.high, (uint64_t{1} << 52) - 1);
  return hn::And(hn::AndNot(is_small, has_one_bit), hn::And(exact, hn::Eq(x.center.low, zero)));
}

// Where a product with a power of two needs no rounding: it does not leave the normal numbers.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> StaysNormal(D d, const LaneRule& rule, V most, const CountedVector<V>& y) {
  const V least =
      hn::Sub(hn::Sub(hn::Mul(hn::Abs(y.center.high), hn::Set(d, 1 - 0x1p-50)), y.error), y.drift);
  const V largest = hn::Add(hn::Mul(most, hn::Set(d, 1 + 0x1p-50)), y.error);
  return hn::And(hn::Ge(least, hn::Set(d, rule.least_normal)),
                 hn::Lt(largest, hn::Set(d, MaxFinite(rule.rule.format))));
}

uint64_t MultiplyEach(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b,
                      LaneArrays& y) {
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    const auto left = OperandAt(d, rule, a, i, ordinary);
    const auto right = OperandAt(d, rule, b, i, ordinary);
    auto product = ProductOf(d, left, right);
    const auto in_range = hn::Gt(hn::Abs(product.center.high), hn::Set(d, 0x1p-900));
    const auto is_zero = hn::Or(IsZero(d, left), IsZero(d, right));
    const auto is_precise = hn::And(AreDoubles(d, left, right), in_range);
    product.drift = hn::IfThenZeroElse(hn::Or(is_zero, is_precise), product.drift);
    const auto is_scaled =
        hn::Or(IsPowerOfTwo(d, left, ordinary), IsPowerOfTwo(d, right, ordinary));
    const auto most = hn::Mul(MagnitudeOf(d, left.center.high, left.drift),
                              MagnitudeOf(d, right.center.high, right.drift));
    const auto unrounded = hn::And(is_scaled, StaysNormal(d, rule, most, product));
    Finish(d, rule, {}, unrounded, product, ordinary);
    StoreLanes(d, product, y, i);
  });
}

uint64_t ConvertEach(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    StoreLanes(d, OperandAt(d, rule, a, i, ordinary), y, i);
  });
}

// Where b - a is above all errors of both.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsBelow(D d, const CountedVector<V>& a, const CountedVector<V>& b) {
  const V reach = hn::Add(hn::Add(hn::Add(a.error, a.drift), b.error), b.drift);
  return hn::Gt(SumOf(b.center, Negated(a.center)).high, hn::Mul(reach, hn::Set(d, 1 + 0x1p-30)));
}

template <class M, class V>
HWY_INLINE CountedVector<V> IfThenElse(M mask, const CountedVector<V>& a,
                                       const CountedVector<V>& b) {
  return {IfThenElse(mask, a.center, b.center), hn::IfThenElse(mask, a.error, b.error),
          hn::IfThenElse(mask, a.likely, b.likely), hn::IfThenElse(mask, a.drift, b.drift)};
}

// x within limits that its centre does not exceed.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> Limited(D d, const CountedVector<V>& x, const CountedVector<V>& low,
                                    const CountedVector<V>& high) {
  auto y = x;
  y.drift = hn::Add(x.drift, hn::Add(low.drift, high.drift));
  const V above = SumOf(high.center, Negated(x.center)).high;
  const V below = SumOf(x.center, Negated(low.center)).high;
  const V farthest = hn::Add(hn::Mul(hn::Max(above, below), hn::Set(d, 1 + 0x1p-30)), y.drift);
  y.error = hn::Add(hn::Add(hn::Min(x.error, farthest), low.error), high.error);
  y.likely = hn::Add(hn::Add(hn::Min(x.likely, farthest), low.likely), high.likely);
  return y;
}

// Where low < x < high, and none of them is infinite.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsInside(D d, V x, V low, V high) {
  const auto are_finite = hn::Lt(hn::Max(hn::Abs(low), hn::Abs(high)), hn::Set(d, kInfinity));
  return hn::And(are_finite, hn::And(hn::Lt(low, x), hn::Lt(x, high)));
}

ClampedLanes ClampEach(const LaneArrays& x, const LaneArrays& low, const LaneArrays& high,
                       LaneArrays& y) {
  ClampedLanes lanes{};
  lanes.right = ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    const auto number = LoadLanes(d, x, i), least = LoadLanes(d, low, i);
    const auto most = LoadLanes(d, high, i);
    const auto is_low = IsBelow(d, number, least);
    const auto is_high = hn::AndNot(is_low, IsBelow(d, most, number));
    const auto is_inside = IsInside(d, number.center.high, least.center.high, most.center.high);
    ordinary.Require(hn::Or(hn::Or(is_low, is_high), is_inside));
    ordinary.Require(hn::Lt(LargestOf(d, number), hn::Set(d, kInfinity)));
    auto result = IfThenElse(is_high, most, Limited(d, number, least, most));
    StoreLanes(d, IfThenElse(is_low, least, result), y, i);
    lanes.low |= BitsOf(d, is_low) << i;
    lanes.high |= BitsOf(d, is_high) << i;
  });
  return lanes;
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddEach);
HWY_EXPORT(MultiplyEach);
HWY_EXPORT(ConvertEach);
HWY_EXPORT(ClampEach);

}  // namespace

uint64_t AddLanes(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(AddEach)(rule, a, b, y);
}
uint64_t MultiplyLanes(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b,
                       LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(MultiplyEach)(rule, a, b, y);
}
uint64_t ConvertLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(ConvertEach)(rule, a, y);
}
ClampedLanes ClampLanes(const LaneArrays& x, const LaneArrays& low, const LaneArrays& high,
                        LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(ClampEach)(x, low, high, y);
}

}  // namespace sextant
#endif
