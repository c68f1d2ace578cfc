// The steps that all operations of CountedLanes share, for vectors: the conversion of operands, the
// rounding of results (counted_steps.h). Included once for each instruction set, after
// hwy/highway.h.
#if defined(SEXTANT_REFERENCE_COUNTED_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_COUNTED_LANES
#undef SEXTANT_REFERENCE_COUNTED_LANES
#else
#define SEXTANT_REFERENCE_COUNTED_LANES
#endif

#include <cstdint>
#include <cstring>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/lanes/lane_arrays.h"
#include "reference/number/tensor/binade-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> LoadLanes(D d, const LaneArrays& of, size_t i) {
  return {{hn::Load(d, of.high + i), hn::Load(d, of.low + i)},
          hn::Load(d, of.error + i),
          hn::Load(d, of.likely + i),
          hn::Load(d, of.drift + i)};
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE void StoreLanes(D d, const CountedVector<V>& x, LaneArrays& to, size_t i) {
  hn::Store(x.center.high, d, to.high + i);
  hn::Store(x.center.low, d, to.low + i);
  hn::Store(x.error, d, to.error + i);
  hn::Store(x.likely, d, to.likely + i);
  hn::Store(x.drift, d, to.drift + i);
}

template <class D>
HWY_INLINE uint64_t BitsOf(D d, hn::Mask<D> mask) {
  uint8_t bytes[8] = {};
  uint64_t bits;
  hn::StoreMaskBits(d, mask, bytes);
  std::memcpy(&bits, bytes, sizeof bits);
  return bits & ((uint64_t{1} << hn::Lanes(d)) - 1);
}

// Calls work(d, i, ordinary) for the vectors of all lanes; `i` is the first lane of a vector.
// Returns the lanes that stay ordinary.
template <class Work>
HWY_INLINE uint64_t ForEachVectorOfLanes(Work work) {
  using D = hn::CappedTag<double, 8>;
  const D d;
  uint64_t lanes = 0;
  for (size_t i = 0; i < kLaneCount; i += hn::Lanes(d)) {
    Ordinary<D> ordinary(d);
    work(d, i, ordinary);
    lanes |= BitsOf(d, hn::Gt(ordinary.marks(), hn::Zero(d))) << i;
  }
  return lanes;
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsExact(D d, const CountedVector<V>& x) {
  return hn::Eq(hn::Add(x.error, x.drift), hn::Zero(d));
}
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsZero(D d, const CountedVector<V>& x) {
  return hn::And(IsExact(d, x), hn::Eq(x.center.high, hn::Zero(d)));
}

// Where x has none of these bits of a double.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> HasNone(D d, V x, uint64_t of_bits) {
  const hn::RebindToUnsigned<D> bits;
  const auto found = hn::And(hn::BitCast(bits, x), hn::Set(bits, of_bits));
  return hn::RebindMask(d, hn::Eq(found, hn::Zero(bits)));
}

// Numbers without error that are values of the format. Requires that exact numbers are 0 or normal.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsExactValue(D d, const LaneRule& rule, const CountedVector<V>& x,
                                    Ordinary<D>& ordinary) {
  const V binade = BinadeOf(d, x.center.high), zero = hn::Zero(d);
  const auto exact = IsExact(d, x);
  const auto is_normal = hn::And(hn::Ge(binade, hn::Set(d, rule.least_normal)),
                                 hn::Lt(binade, hn::Set(d, rule.largest_binade)));
  const auto is_regular = hn::Or(is_normal, hn::Eq(x.center.high, zero));
  ordinary.Require(hn::Or(hn::Not(exact), is_regular));
  const auto fits =
      hn::And(hn::Eq(x.center.low, zero), HasNone(d, x.center.high, rule.dropped_bits));
  return hn::And(exact, fits);
}

// Adds to the errors of x, but not of `exempt` numbers, the binade of `magnitude` times `units`.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void Charge(D d, const LaneRule& rule, V magnitude, double units, hn::Mask<D> exempt,
                       CountedVector<V>& x, Ordinary<D>& ordinary) {
  const V binade = BinadeOf(d, magnitude);
  const auto in_range = hn::And(hn::Ge(binade, hn::Set(d, rule.ordinary.least)),
                                hn::Lt(binade, hn::Set(d, rule.ordinary.most)));
  ordinary.Require(hn::Or(exempt, in_range));
  const V own = hn::IfThenZeroElse(exempt, hn::Mul(binade, hn::Set(d, units)));
  x.error = hn::Add(x.error, own);
  x.likely = hn::Add(x.likely, own);
}

// The operand as the step converts it.
template <class D>
HWY_INLINE auto OperandAt(D d, const LaneRule& rule, const LaneOperand& of, size_t i,
                          Ordinary<D>& ordinary) {
  auto x = LoadLanes(d, of.numbers, i);
  if (of.are_values) return x;
  const auto is_value = IsExactValue(d, rule, x, ordinary);
  Charge(d, rule, LargestOf(d, x), rule.ordinary.half_ulp, is_value, x, ordinary);
  return x;
}

// Charges the rounding of the step, as Counted::Finish: an error of `ulps` ulps of numbers of at
// most `limit`, but none of `unrounded` numbers.
struct LaneRounding {
  double ulps = 0.5, limit = kInfinity;
};
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void Finish(D d, const LaneRule& rule, const LaneRounding& rounding,
                       hn::Mask<D> unrounded, CountedVector<V>& y, Ordinary<D>& ordinary) {
  const V largest = LargestOf(d, y);
  ordinary.Require(hn::Lt(largest, hn::Set(d, kInfinity)));
  if (rule.rule.exact) return;
  const auto exempt = hn::Or(unrounded, IsExactValue(d, rule, y, ordinary));
  Charge(d, rule, hn::Min(largest, hn::Set(d, rounding.limit)),
         rounding.ulps * 2 * rule.ordinary.half_ulp, exempt, y, ordinary);
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE void Finish(D d, const LaneRule& rule, const LaneRounding& rounding, CountedVector<V>& y,
                       Ordinary<D>& ordinary) {
  const auto none = hn::Ne(hn::Zero(d), hn::Zero(d));
  Finish(d, rule, rounding, none, y, ordinary);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
