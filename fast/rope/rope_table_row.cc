#include "fast/rope/rope_table_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/rope/rope_table_row.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/any_element.h"
#include "fast/simd/double_double-inl.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE CosSin<hn::VFromD<D>> ReadCosSin(D d, const CosSinRow& t, size_t k) {
  return {{Read(d, t.cosine + k), Read(d, t.cosine_low() + k)},
          {Read(d, t.sine() + k), Read(d, t.sine_low() + k)}};
}

void MultiplyAll(const CosSinRow& a, const CosSinRow& b, const CosSinRow& to) {
  ForEachVector(hn::ScalableTag<double>(), to.n, [&](auto d, size_t k) SEXTANT_INLINE {
    const auto product = Combine(d, ReadCosSin(d, a, k), ReadCosSin(d, b, k));
    Write(d, product.cosine.high, to.cosine + k);
    Write(d, product.cosine.low, to.cosine_low() + k);
    Write(d, product.sine.high, to.sine() + k);
    Write(d, product.sine.low, to.sine_low() + k);
  });
}

// Writes x rounded to f32. Returns true if all numbers within `error` of x round to the same f32.
template <class D>
HWY_INLINE bool Round([[maybe_unused]] D d, hn::VFromD<D> x, hn::VFromD<D> error, float* to) {
  const hn::Rebind<float, D> d32;
  const auto below = hn::DemoteTo(d32, hn::Sub(x, error));
  const auto above = hn::DemoteTo(d32, hn::Add(x, error));
  Write(d32, below, to);
  return hn::AllTrue(d32, hn::Eq(below, above));
}

// The same for 16-bit types. x is first rounded to f32, which adds 2^-24 |x| to the error.
template <class D, Narrow T>
HWY_INLINE bool Round(D d, hn::VFromD<D> x, hn::VFromD<D> error, T* to) {
  const hn::Rebind<float, D> d32;
  const hn::RebindToUnsigned<decltype(d32)> du;
  const auto wider = hn::MulAdd(hn::Abs(x), hn::Set(d, 0x1p-24), error);
  const auto below = hn::DemoteTo(d32, hn::Sub(x, wider));
  const auto above = hn::DemoteTo(d32, hn::Add(x, wider));
  Write(d32, below, to);
  return hn::AllTrue(du, hn::Eq(RoundTo16<T>(d32, below), RoundTo16<T>(d32, above)));
}

template <class T>
HWY_INLINE size_t FillNarrow(const CosSinRow& a, const CosSinRow& b, double error, T* cosine,
                             T* sine, UndecidedColumns* undecided) {
  size_t count = 0;
  const auto body = [&](auto d, size_t k) SEXTANT_INLINE {
    const auto ca = Read(d, a.cosine + k), sa = Read(d, a.sine() + k);
    const auto cb = Read(d, b.cosine + k), sb = Read(d, b.sine() + k);
    const auto e = hn::Set(d, error);
    const bool c = Round(d, hn::MulSub(ca, cb, hn::Mul(sa, sb)), e, cosine + k);
    const bool s = Round(d, hn::MulAdd(sa, cb, hn::Mul(ca, sb)), e, sine + k);
    if (HWY_UNLIKELY(!(c && s))) undecided[count++] = {k, hn::Lanes(d)};
  };
  ForEachVector(hn::ScalableTag<double>(), a.n, body);
  return count;
}

// True if all numbers within `error` of x round to x.high.
template <class D, class V>
HWY_INLINE bool IsDecided(D d, const Double2<V>& x, V error) {
  const auto same = hn::And(hn::Eq(hn::Add(x.high, hn::Add(x.low, error)), x.high),
                            hn::Eq(hn::Add(x.high, hn::Sub(x.low, error)), x.high));
  return hn::AllTrue(d, same);
}

HWY_INLINE size_t FillWide(const CosSinRow& a, const CosSinRow& b, double error, double* cosine,
                           double* sine, UndecidedColumns* undecided) {
  size_t count = 0;
  const auto body = [&](auto d, size_t k) SEXTANT_INLINE {
    const auto product = Combine(d, ReadCosSin(d, a, k), ReadCosSin(d, b, k));
    const auto e = hn::Set(d, error);
    Write(d, product.cosine.high, cosine + k);
    Write(d, product.sine.high, sine + k);
    const bool decided = IsDecided(d, product.cosine, e) && IsDecided(d, product.sine, e);
    if (HWY_UNLIKELY(!decided)) undecided[count++] = {k, hn::Lanes(d)};
  };
  ForEachVector(hn::ScalableTag<double>(), a.n, body);
  return count;
}

template <class T>
size_t FillRow(const CosSinRow& a, const CosSinRow& b, double error, void* cosine, void* sine,
               UndecidedColumns* undecided) noexcept {
  auto *c = static_cast<T*>(cosine), *s = static_cast<T*>(sine);
  if constexpr (std::same_as<T, double>)
    return FillWide(a, b, error, c, s, undecided);
  else
    return FillNarrow(a, b, error, c, s, undecided);
}

RowFiller FillerOfElements(DType dtype) {
  return WithElement(dtype, []<class T>() -> RowFiller { return &FillRow<T>; });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(MultiplyAll);
HWY_EXPORT(FillerOfElements);

void MultiplyCosSins(const CosSinRow& a, const CosSinRow& b, const CosSinRow& to) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyAll)(a, b, to);
}

RowFiller RowFillerOf(DType dtype) noexcept {
  return HWY_DYNAMIC_DISPATCH(FillerOfElements)(dtype);
}

}  // namespace sextant::fast
#endif
