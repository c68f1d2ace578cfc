#include "reference/number/counted/sum_of_terms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/counted/sum_of_terms.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/double_double/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// a + b, and the magnitudes of its roundings, as Sum (double_double.h).
template <class V>
HWY_INLINE Double2<V> SumWithRoundings(const Double2<V>& a, const Double2<V>& b, V& rounding) {
  const auto s = TwoSum(a.high, b.high), t = TwoSum(a.low, b.low);
  const auto c = TwoSum(s.low, t.high), v = TwoSum(s.high, c.high);
  const auto w = TwoSum(t.low, v.low);
  rounding = hn::Add(rounding, hn::Add(hn::Abs(c.low), hn::Abs(w.low)));
  return FastTwoSum(v.high, w.high);
}

// Adds terms 8 k + i to sum i, for the lanes of `d` from `first` on, and all k below `rounds`.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SumEveryEighthOf(D d, const double* high, const double* low, size_t rounds,
                                 PartialSums& sums) {
  for (size_t first = 0; first < PartialSums::kCount; first += hn::Lanes(d)) {
    Double2<V> sum{hn::Zero(d), hn::Zero(d)};
    V rounding = hn::Zero(d);
    for (size_t k = 0; k < rounds; ++k) {
      const size_t at = k * PartialSums::kCount + first;
      sum = SumWithRoundings(sum, {hn::LoadU(d, high + at), hn::LoadU(d, low + at)}, rounding);
    }
    hn::StoreU(sum.high, d, sums.high.data() + first);
    hn::StoreU(sum.low, d, sums.low.data() + first);
    hn::StoreU(rounding, d, sums.rounding.data() + first);
  }
}
void SumEveryEighth(const double* high, const double* low, size_t rounds, PartialSums& sums) {
  SumEveryEighthOf(hn::CappedTag<double, PartialSums::kCount>(), high, low, rounds, sums);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SumEveryEighth);

}  // namespace

DoubleDouble SumOfTerms(std::span<const double> high, std::span<const double> low,
                        double& rounding) {
  PartialSums of;
  const size_t rounds = high.size() / PartialSums::kCount;
  HWY_DYNAMIC_DISPATCH(SumEveryEighth)(high.data(), low.data(), rounds, of);
  DoubleDouble sum;
  for (size_t i = 0; i < PartialSums::kCount; ++i) {
    sum = Sum(sum, DoubleDouble{of.high[i], of.low[i]}, rounding);
    rounding += of.rounding[i];
  }
  for (size_t j = rounds * PartialSums::kCount; j < high.size(); ++j)
    sum = Sum(sum, DoubleDouble{high[j], low[j]}, rounding);
  return sum;
}

}  // namespace sextant
#endif
