// Sums of vectors, for level 1: their last bits depend on the width of vectors. Included once for
// each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_LANE_SUMS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_LANE_SUMS
#undef SEXTANT_REFERENCE_LANE_SUMS
#else
#define SEXTANT_REFERENCE_LANE_SUMS
#endif

#include <hwy/highway.h>

#include "reference/number/double_double/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Calls work(d, first, last) for the numbers of whole vectors, and for the others, as vectors of
// one.
template <class Work>
HWY_INLINE void InTwoParts(size_t count, Work work) {
  const hn::ScalableTag<double> d;
  const size_t whole = count / hn::Lanes(d) * hn::Lanes(d);
  work(d, size_t{0}, whole);
  work(hn::CappedTag<double, 1>(), whole, count);
}

// The sums of numbers, one in each lane: doubles, and the sum of their exact roundings.
template <class D>
class LaneSums {
 public:
  using V = hn::VFromD<D>;
  HWY_INLINE explicit LaneSums(D d) : d_(d), high_(hn::Zero(d)), low_(hn::Zero(d)) {}
  HWY_INLINE void Add(V x) {
    const auto sum = TwoSum(high_, x);
    high_ = sum.high;
    low_ = hn::Add(low_, sum.low);
  }
  // Adds the lanes to `sum`, and a bound of all roundings to `rounding`; n numbers were added, of
  // which `size` is a bound of the sum of magnitudes. Each of the m numbers of a lane adds a low
  // half of at most 2^-53 of the magnitudes S in the lane. The sums of these, from the third on,
  // round by at most m 2^-106 S.
  HWY_INLINE void AddTo(size_t n, double size, DoubleDouble& sum, double& rounding) const {
    double high[hn::MaxLanes(D())], low[hn::MaxLanes(D())];
    hn::StoreU(high_, d_, high);
    hn::StoreU(low_, d_, low);
    for (size_t i = 0; i < hn::Lanes(d_); ++i)
      sum = Sum(sum, DoubleDouble{high[i], low[i]}, rounding);
    const auto m = static_cast<double>((n + hn::Lanes(d_) - 1) / hn::Lanes(d_));
    if (m > 2) rounding += (m - 2) * m * 0x1p-105 * size;
  }
  // The same for numbers that are not negative: each lane is its own bound.
  HWY_INLINE void AddTo(size_t n, DoubleDouble& sum, double& rounding) const {
    AddTo(n, hn::GetLane(hn::SumOfLanes(d_, high_)) * (1 + 0x1p-40), sum, rounding);
  }

 private:
  D d_;
  V high_, low_;
};

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
