// Binades of vectors of doubles. Included once for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_BINADE) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_BINADE
#undef SEXTANT_REFERENCE_BINADE
#else
#define SEXTANT_REFERENCE_BINADE
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// |x| rounded down to a power of two: 0 if x is subnormal, infinite if it is NaN or infinite.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V BinadeOf(D d, V x) {
  const hn::RebindToUnsigned<D> bits;
  return hn::And(x, hn::BitCast(d, hn::Set(bits, uint64_t{0x7ff0000000000000})));
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
