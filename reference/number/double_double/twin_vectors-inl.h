// Two vectors that are computed side by side. A series of double-double numbers is one long chain,
// in which each operation waits for the one before it; two chains take hardly more time than one.
// Functions over TwinTag<D> are those over D, if they call the operations below without `hn::`.
// Included once for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_TWIN_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_TWIN_VECTORS
#undef SEXTANT_REFERENCE_TWIN_VECTORS
#else
#define SEXTANT_REFERENCE_TWIN_VECTORS
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two vectors, or two masks.
template <class T>
struct Twin {
  T first, second;
};

template <class D>
struct TwinTag {
  D half;
};

template <class D>
struct VectorOfTag {
  using Type = hn::VFromD<D>;
};
template <class D>
struct VectorOfTag<TwinTag<D>> {
  using Type = Twin<hn::VFromD<D>>;
};
template <class D>
using VectorOf = typename VectorOfTag<D>::Type;

template <class D>
HWY_INLINE VectorOf<TwinTag<D>> Set(TwinTag<D> d, double x) {
  return {Set(d.half, x), Set(d.half, x)};
}
template <class D>
HWY_INLINE VectorOf<TwinTag<D>> Zero(TwinTag<D> d) {
  return {Zero(d.half), Zero(d.half)};
}
template <class D>
HWY_INLINE VectorOf<TwinTag<D>> Load(TwinTag<D> d, const double* x) {
  return {Load(d.half, x), Load(d.half, x + Lanes(d.half))};
}
template <class D>
HWY_INLINE void Store(const VectorOf<TwinTag<D>>& x, TwinTag<D> d, double* to) {
  Store(x.first, d.half, to);
  Store(x.second, d.half, to + Lanes(d.half));
}
template <class D>
HWY_INLINE size_t Lanes(TwinTag<D> d) {
  return 2 * Lanes(d.half);
}

template <class T>
HWY_INLINE Twin<T> Neg(const Twin<T>& x) {
  return {Neg(x.first), Neg(x.second)};
}
template <class T>
HWY_INLINE Twin<T> Abs(const Twin<T>& x) {
  return {Abs(x.first), Abs(x.second)};
}
template <class T>
HWY_INLINE Twin<T> Round(const Twin<T>& x) {
  return {Round(x.first), Round(x.second)};
}

template <class T>
HWY_INLINE Twin<T> Add(const Twin<T>& x, const Twin<T>& y) {
  return {Add(x.first, y.first), Add(x.second, y.second)};
}
template <class T>
HWY_INLINE Twin<T> Sub(const Twin<T>& x, const Twin<T>& y) {
  return {Sub(x.first, y.first), Sub(x.second, y.second)};
}
template <class T>
HWY_INLINE Twin<T> Mul(const Twin<T>& x, const Twin<T>& y) {
  return {Mul(x.first, y.first), Mul(x.second, y.second)};
}
template <class T>
HWY_INLINE Twin<T> Div(const Twin<T>& x, const Twin<T>& y) {
  return {Div(x.first, y.first), Div(x.second, y.second)};
}

template <class T>
HWY_INLINE auto Lt(const Twin<T>& x, const Twin<T>& y) {
  return Twin{Lt(x.first, y.first), Lt(x.second, y.second)};
}
template <class T>
HWY_INLINE auto Le(const Twin<T>& x, const Twin<T>& y) {
  return Twin{Le(x.first, y.first), Le(x.second, y.second)};
}
template <class T>
HWY_INLINE auto Gt(const Twin<T>& x, const Twin<T>& y) {
  return Twin{Gt(x.first, y.first), Gt(x.second, y.second)};
}
template <class T>
HWY_INLINE auto Eq(const Twin<T>& x, const Twin<T>& y) {
  return Twin{Eq(x.first, y.first), Eq(x.second, y.second)};
}
template <class M>
HWY_INLINE Twin<M> And(const Twin<M>& x, const Twin<M>& y) {
  return {And(x.first, y.first), And(x.second, y.second)};
}
template <class M>
HWY_INLINE Twin<M> Or(const Twin<M>& x, const Twin<M>& y) {
  return {Or(x.first, y.first), Or(x.second, y.second)};
}
template <class M, class T>
HWY_INLINE Twin<T> IfThenElse(const Twin<M>& mask, const Twin<T>& x, const Twin<T>& y) {
  return {IfThenElse(mask.first, x.first, y.first), IfThenElse(mask.second, x.second, y.second)};
}
template <class D, class M>
HWY_INLINE bool AllTrue(TwinTag<D> d, const Twin<M>& mask) {
  return AllTrue(d.half, mask.first) && AllTrue(d.half, mask.second);
}
template <class D, class M>
HWY_INLINE bool AllFalse(TwinTag<D> d, const Twin<M>& mask) {
  return AllFalse(d.half, mask.first) && AllFalse(d.half, mask.second);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
