// A loop over arrays of doubles in vectors. Included once for each instruction set, after
// hwy/highway.h.
#if defined(SEXTANT_REFERENCE_FOR_EACH_VECTOR) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_FOR_EACH_VECTOR
#undef SEXTANT_REFERENCE_FOR_EACH_VECTOR
#else
#define SEXTANT_REFERENCE_FOR_EACH_VECTOR
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls work(d, k) for whole vectors of `count` numbers, k the first of each, and then for each
// number that is left, as a vector of one.
template <class Work>
HWY_INLINE void ForEachVector(size_t count, Work work) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  size_t k = 0;
  for (; k + hn::Lanes(d) <= count; k += hn::Lanes(d)) work(d, k);
  for (; k < count; ++k) work(one, k);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
