#include "reference/number/lanes/lane_arrays.h"
#include "reference/number/recipe/rounding_units.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/lanes/lane_functions.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/double_double/double_double_functions-inl.h"
#include "reference/number/double_double/elementary-inl.h"
#include "reference/number/double_double/erf_of_doubles-inl.h"
#include "reference/number/lanes/counted_lanes-inl.h"

// The bounds of counted_functions.cc: each function here has the steps of its namesake there.
HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr double kUnit = kDoubleDoubleUnit, kBelowOne = 1 - 0x1p-53;

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Up(D d, V x) {
  return hn::Mul(x, hn::Set(d, kBoundUp));
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Decay(D d, V z) {
  return Up(d, ExpOf(d, hn::Neg(z)));
}

// The square of 1 + e.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V SquareAboveOne(D d, V e) {
  const V sum = hn::Add(hn::Set(d, 1.0), e);
  return hn::Mul(sum, sum);
}

struct TanhSlope {
  template <class D, class V = hn::VFromD<D>>
  HWY_INLINE V operator()(D d, V z) const {
    const V e = Decay(d, hn::Mul(hn::Set(d, 2.0), z));
    const V slope = hn::Div(hn::Mul(hn::Set(d, 4.0), e), SquareAboveOne(d, e));
    return hn::Min(hn::Set(d, 1.0), Up(d, slope));
  }
};
struct SigmoidSlope {
  template <class D, class V = hn::VFromD<D>>
  HWY_INLINE V operator()(D d, V z) const {
    const V e = Decay(d, z);
    return hn::Min(hn::Set(d, 0.25), Up(d, hn::Div(e, SquareAboveOne(d, e))));
  }
};
struct ErfSlope {
  template <class D, class V = hn::VFromD<D>>
  HWY_INLINE V operator()(D d, V z) const {
    const V e = Decay(d, hn::Mul(hn::Mul(z, z), hn::Set(d, 1 - 0x1p-50)));
    return Up(d, hn::Mul(hn::Set(d, 1.1283791670955126), e));
  }
};

template <class D, class Slope, class V = hn::VFromD<D>>
HWY_INLINE V Through(D d, V e, V drift, V x, Slope slope, double range, Ordinary<D>& ordinary) {
  const V zero = hn::Zero(d);
  const auto is_zero = hn::Eq(e, zero);
  if (hn::AllTrue(d, is_zero)) return zero;
  ordinary.Require(hn::Lt(e, hn::Set(d, kInfinity)));
  const V least = hn::Mul(hn::Abs(x), hn::Set(d, 1 - 0x1p-50));
  const V nearest = hn::Max(zero, hn::Sub(hn::Sub(least, drift), e));
  const V most = Up(d, hn::Mul(e, slope(d, nearest)));
  return hn::IfThenZeroElse(is_zero, hn::Min(hn::Set(d, range), most));
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V ErrorOfParts(D d, const StepRule& rule, V size) {
  if (rule.exact) return hn::Zero(d);
  const V relative = hn::Set(d, (2 * rule.ulps + 1) * UnitRoundoffOf(rule.format));
  const V underflow = hn::Set(d, rule.ulps * UnderflowErrorOf(rule));
  return Up(d, hn::Add(hn::Mul(relative, size), underflow));
}

// Sets the errors of y to those of `a`, propagated by f.
template <class D, class F, class V = hn::VFromD<D>>
HWY_INLINE void Propagate(D d, const CountedVector<V>& a, CountedVector<V>& y, F f) {
  y.error = f(a.error);
  y.likely = hn::AllTrue(d, hn::Eq(a.error, a.likely)) ? y.error : f(a.likely);
}

// Sets the centres of `to` to f(d, a, i) for the centres a of `of` from lane i on.
template <class F>
HWY_INLINE void SetCenters(const LaneArrays& of, LaneArrays& to, F f) {
  const TwinTag<hn::CappedTag<double, 8>> d;
  for (size_t i = 0; i < kLaneCount; i += Lanes(d)) {
    const Double2<VectorOf<decltype(d)>> a{Load(d, of.high + i), Load(d, of.low + i)};
    const auto y = f(d, a, i);
    Store(y.high, d, to.high + i);
    Store(y.low, d, to.low + i);
  }
}

// Values that erf and erfc have in common, of the last numbers, because gelu needs both functions
// of the same numbers; at first, of zeros.
struct ErfMemory {
  alignas(64) double high[kLaneCount], low[kLaneCount];
  alignas(64) double common_high[kLaneCount], common_low[kLaneCount];
};
thread_local ErfMemory erf_memory{}, erf_memory_of_doubles{};

// common(size) for the numbers `size`, or what is known of it.
template <class D, class Common, class V = VectorOf<D>>
HWY_INLINE Double2<V> Remembered(D d, const Double2<V>& size, size_t i, ErfMemory& last,
                                 Common common) {
  const auto is_last =
      And(Eq(size.high, Load(d, last.high + i)), Eq(size.low, Load(d, last.low + i)));
  if (AllTrue(d, is_last)) return {Load(d, last.common_high + i), Load(d, last.common_low + i)};
  const Double2<V> y = common(size);
  Store(size.high, d, last.high + i);
  Store(size.low, d, last.low + i);
  Store(y.high, d, last.common_high + i);
  Store(y.low, d, last.common_low + i);
  return y;
}

// ErfOrErfc(|a|).
template <class D, class V = VectorOf<D>>
HWY_INLINE Double2<V> CommonOf(D d, const Double2<V>& a, size_t i) {
  return Remembered(d, AbsOf(d, a), i, erf_memory,
                    [d](const Double2<V>& size) HWY_ATTR { return ErfOrErfc(d, size); });
}

// The same in double, with at most 64 units of 2^-53 of the result.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE Double2<V> CommonOfDoubles(D d, const Double2<V>& a, size_t i) {
  return Remembered(d, AbsOf(d, a), i, erf_memory_of_doubles,
                    [d](const Double2<V>& size) HWY_ATTR -> Double2<V> {
                      if (!hn::AllTrue(d, hn::Le(size.high, hn::Set(d, kMostOfDoubles))))
                        return ErfOrErfc(d, size);
                      const auto is_near = hn::Lt(size.high, hn::Set(d, 0.25));
                      V y = hn::Zero(d);
                      if (!hn::AllTrue(d, is_near)) y = ErfcOfDoubles(d, size);
                      if (!hn::AllFalse(d, is_near))
                        y = hn::IfThenElse(is_near, ErfNearZeroOfDoubles(d, size.high), y);
                      return {y, hn::Zero(d)};
                    });
}

// Sets the centres of `to` to erf or erfc.
template <class F>
HWY_INLINE void SetErfCenters(const LaneRule& rule, const LaneArrays& of, LaneArrays& to, F f) {
  if (!rule.level_1) {
    return SetCenters(
        of, to, [&](auto d, auto& a, size_t i) HWY_ATTR { return f(d, a, CommonOf(d, a, i)); });
  }
  const hn::CappedTag<double, 8> d;
  for (size_t i = 0; i < kLaneCount; i += hn::Lanes(d)) {
    const Double2<hn::VFromD<decltype(d)>> a{hn::Load(d, of.high + i), hn::Load(d, of.low + i)};
    const auto y = f(d, a, CommonOfDoubles(d, a, i));
    hn::Store(y.high, d, to.high + i);
    hn::Store(y.low, d, to.low + i);
  }
}

uint64_t TanhOf(const LaneRule& rule, const LaneOperand& of, LaneArrays& to) {
  SetCenters(of.numbers, to, [](auto d, auto& a, size_t) HWY_ATTR { return Tanh(d, a); });
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto a = OperandAt(d, rule, of, i, ordinary);
    ordinary.Require(hn::Not(IsZero(d, a)));
    CountedVector<V> y;
    y.center = {hn::Load(d, to.high + i), hn::Load(d, to.low + i)};
    const V x = a.center.high, size = Up(d, hn::Abs(y.center.high));
    Propagate(d, a, y, [&](V e) HWY_ATTR {
      const V through = Through(d, e, a.drift, x, TanhSlope(), 2, ordinary);
      return hn::Add(through, ErrorOfParts(d, rule.rule, hn::Add(size, through)));
    });
    const V own = hn::Mul(hn::Mul(size, hn::Set(d, 64.0)), hn::Set(d, kUnit));
    y.drift = hn::Add(hn::Add(Through(d, a.drift, hn::Zero(d), x, TanhSlope(), 2, ordinary), own),
                      hn::Set(d, kTinyDrift));
    Finish(d, rule, {.limit = kBelowOne}, y, ordinary);
    StoreLanes(d, y, to, i);
  });
}

uint64_t SigmoidOf(const LaneRule& rule, const LaneOperand& of, LaneArrays& to) {
  const double largest = rule.rule.exact ? kInfinity : MaxFinite(rule.rule.format);
  SetCenters(of.numbers, to, [](auto d, auto& a, size_t) HWY_ATTR { return Sigmoid(d, a); });
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const V tiny = hn::Set(d, kTinyDrift);
    const auto a = OperandAt(d, rule, of, i, ordinary);
    CountedVector<V> y;
    y.center = {hn::Load(d, to.high + i), hn::Load(d, to.low + i)};
    const V x = a.center.high, size = hn::Add(Up(d, y.center.high), tiny);
    Propagate(d, a, y, [&](V e) HWY_ATTR {
      const V through = Through(d, e, a.drift, x, SigmoidSlope(), 1, ordinary);
      const V parts = ErrorOfParts(d, rule.rule, hn::Add(size, through));
      const auto overflows =
          hn::Lt(hn::Mul(hn::Sub(y.center.high, through), hn::Set(d, largest)), hn::Set(d, 1.125));
      const V lost = rule.rule.exact ? hn::Zero(d) : hn::IfThenElseZero(overflows, size);
      return hn::Add(through, hn::Max(parts, lost));
    });
    const V own = hn::Add(hn::Mul(hn::Mul(size, hn::Set(d, 64.0)), hn::Set(d, kUnit)), tiny);
    const V through = Through(d, a.drift, hn::Zero(d), x, SigmoidSlope(), 1, ordinary);
    y.drift = hn::Add(through, hn::IfThenZeroElse(IsZero(d, a), own));
    Finish(d, rule, {.limit = kBelowOne}, y, ordinary);
    StoreLanes(d, y, to, i);
  });
}

uint64_t ErfOf(const LaneRule& rule, const LaneOperand& of, LaneArrays& to) {
  const StepRule& step = rule.rule;
  const bool absolute = step.form == Form::kErfAbsolute && !step.exact;
  const double claimed = 2 * step.ulps;
  const double of_one = absolute ? claimed * UnitRoundoffOf(step.format) : 0;
  SetErfCenters(rule, of.numbers, to,
                [](auto d, auto& a, const auto& common) HWY_ATTR { return Erf(d, a, common); });
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto a = OperandAt(d, rule, of, i, ordinary);
    ordinary.Require(hn::Not(IsZero(d, a)));
    CountedVector<V> y;
    y.center = {hn::Load(d, to.high + i), hn::Load(d, to.low + i)};
    const V x = a.center.high;
    Propagate(d, a, y, [&](V e) HWY_ATTR {
      return hn::Add(Through(d, e, a.drift, x, ErfSlope(), 2, ordinary), hn::Set(d, of_one));
    });
    const V units = rule.level_1 ? ErrorOfErf(d, x, y.center.high)
                                 : hn::Mul(hn::Abs(y.center.high), hn::Set(d, 256 * kUnit));
    const V own = hn::Add(units, hn::Set(d, kTinyDrift));
    y.drift = hn::Add(Through(d, a.drift, hn::Zero(d), x, ErfSlope(), 2, ordinary), own);
    Finish(d, rule, {absolute ? 0.5 : claimed, kBelowOne}, y, ordinary);
    StoreLanes(d, y, to, i);
  });
}

uint64_t ErfcOf(const LaneRule& rule, const LaneOperand& of, LaneArrays& to) {
  SetErfCenters(rule, of.numbers, to,
                [](auto d, auto& a, const auto& common) HWY_ATTR { return Erfc(d, a, common); });
  return ForEachVectorOfLanes([&](auto d, size_t i, auto& ordinary) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto a = OperandAt(d, rule, of, i, ordinary);
    CountedVector<V> y;
    y.center = {hn::Load(d, to.high + i), hn::Load(d, to.low + i)};
    const V x = a.center.high;
    Propagate(d, a, y,
              [&](V e) HWY_ATTR { return Through(d, e, a.drift, x, ErfSlope(), 2, ordinary); });
    const V square = hn::Mul(hn::Mul(hn::Set(d, 16.0), x), x);
    const V relative = hn::Mul(y.center.high, hn::Add(hn::Set(d, 256.0), square));
    const V size = hn::IfThenElse(hn::Ge(x, hn::Set(d, 2.0)), relative, hn::Set(d, 512.0));
    // 64 units of the result, also where it is a difference from 1 or 2: these are larger.
    const V of_doubles = hn::Mul(y.center.high, hn::Set(d, kErrorOfDoubles));
    const V of_level = rule.level_1 ? of_doubles : hn::Mul(size, hn::Set(d, kUnit));
    const V own = hn::Add(of_level, hn::Set(d, kTinyDrift));
    y.drift = hn::Add(Through(d, a.drift, hn::Zero(d), x, ErfSlope(), 2, ordinary),
                      hn::IfThenZeroElse(IsZero(d, a), own));
    Finish(d, rule, {5 * rule.rule.ulps, 2 * kBelowOne}, y, ordinary);
    StoreLanes(d, y, to, i);
  });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TanhOf);
HWY_EXPORT(SigmoidOf);
HWY_EXPORT(ErfOf);
HWY_EXPORT(ErfcOf);

}  // namespace

uint64_t TanhLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(TanhOf)(rule, a, y);
}
uint64_t SigmoidLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(SigmoidOf)(rule, a, y);
}
uint64_t ErfLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(ErfOf)(rule, a, y);
}
uint64_t ErfcLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y) {
  return HWY_DYNAMIC_DISPATCH(ErfcOf)(rule, a, y);
}

}  // namespace sextant
#endif
