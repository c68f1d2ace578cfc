// Vectors of numbers that behave as Counted, the same bits as single numbers. Only for numbers that
// need no special case: see the comment of each function. Included once for each instruction set,
// after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_COUNTED_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_COUNTED_VECTORS
#undef SEXTANT_REFERENCE_COUNTED_VECTORS
#else
#define SEXTANT_REFERENCE_COUNTED_VECTORS
#endif

#include <cstdint>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/double_double/double_double-inl.h"
#include "reference/number/tensor/binade-inl.h"
#include "reference/number/tensor/for_each_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The members of Counted (counted.h) that are numbers.
template <class V>
struct CountedVector {
  Double2<V> center;
  V error, likely, drift;
};

template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> LoadCounted(D d, const CountedNumbers& of, size_t i) {
  return {{hn::LoadU(d, of.high + i), hn::LoadU(d, of.low + i)},
          hn::LoadU(d, of.error + i),
          hn::LoadU(d, of.likely + i),
          hn::LoadU(d, of.drift + i)};
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE void StoreCounted(D d, const CountedVector<V>& x, const CountedNumbers& to, size_t i) {
  hn::StoreU(x.center.high, d, to.high + i);
  hn::StoreU(x.center.low, d, to.low + i);
  hn::StoreU(x.error, d, to.error + i);
  hn::StoreU(x.likely, d, to.likely + i);
  hn::StoreU(x.drift, d, to.drift + i);
}

// Upper bounds of |x|, as Counted::Magnitude.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V MagnitudeOf(D d, V high, V drift) {
  return hn::Add(hn::Mul(hn::Abs(high), hn::Set(d, 1 + 0x1p-50)), drift);
}

// The same of numbers with their errors.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V LargestOf(D d, const CountedVector<V>& x) {
  return hn::Add(MagnitudeOf(d, x.center.high, x.drift), x.error);
}

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V DriftOf(D d, V high, double units) {
  return hn::Add(hn::Mul(hn::Abs(high), hn::Set(d, units * kDoubleDoubleUnit)),
                 hn::Set(d, kTinyDrift));
}

// 1 where the lane is still ordinary: no special case has been met; else 0.
template <class D>
class Ordinary {
 public:
  using V = hn::VFromD<D>;
  explicit Ordinary(D d) : marks_(hn::Set(d, 1.0)) {}
  template <class Mask>
  HWY_INLINE void Require(Mask mask) {
    marks_ = hn::IfThenElseZero(mask, marks_);
  }
  V marks() const { return marks_; }

 private:
  V marks_;
};

// The rounding errors of numbers of these magnitudes. Requires normal numbers that are well inside
// of the range of the format (RoundingError, dtype.h).
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V HalfUlpOf(D d, V magnitude, const OrdinaryRange& format, Ordinary<D>& ordinary) {
  const V binade = BinadeOf(d, magnitude);
  ordinary.Require(
      hn::And(hn::Ge(binade, hn::Set(d, format.least)), hn::Lt(binade, hn::Set(d, format.most))));
  return hn::Mul(binade, hn::Set(d, format.half_ulp));
}

// Charges the rounding to the format, as Counted::Finish and Converted.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void Round(D d, const OrdinaryRange& format, CountedVector<V>& x,
                      Ordinary<D>& ordinary) {
  const V own = HalfUlpOf(d, LargestOf(d, x), format, ordinary);
  x.error = hn::Add(x.error, own);
  x.likely = hn::Add(x.likely, own);
}

// The product with exact numbers a without a rounding error. The drift of b must not be 0.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> ProductOf(D d, V a, const CountedVector<V>& b) {
  const V size = hn::Mul(hn::Abs(a), hn::Set(d, 1 + 0x1p-50));
  const auto center = ProductOf(d, a, b.center);
  return {center, hn::Mul(size, b.error), hn::Mul(size, b.likely),
          hn::Add(hn::Mul(size, b.drift), DriftOf(d, center.high, 8))};
}

// The product without a rounding error, of numbers of which one has a drift that is not 0.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> ProductOf(D d, const CountedVector<V>& a, const CountedVector<V>& b) {
  const V size_a = MagnitudeOf(d, a.center.high, a.drift);
  const V size_b = MagnitudeOf(d, b.center.high, b.drift);
  const auto through = [&](V of_a, V of_b) HWY_ATTR {
    return hn::Add(hn::Add(hn::Mul(size_a, of_b), hn::Mul(size_b, of_a)), hn::Mul(of_a, of_b));
  };
  const auto center = ProductOf(d, a.center, b.center);
  return {center, through(a.error, b.error), through(a.likely, b.likely),
          hn::Add(through(a.drift, b.drift), DriftOf(d, center.high, 8))};
}

// The sum without a rounding error, of numbers whose drift is not 0.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> SumOf(D d, const CountedVector<V>& a, const CountedVector<V>& b) {
  const auto center = SumOf(a.center, b.center);
  return {center, hn::Add(a.error, b.error), hn::Add(a.likely, b.likely),
          hn::Add(hn::Add(a.drift, b.drift), DriftOf(d, center.high, 4))};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
