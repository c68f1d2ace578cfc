#include "reference/case/normal_numbers.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/case/normal_numbers.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Mix of splitmix64.h.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V MixOf(D d, V z) {
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, uint64_t{0xbf58476d1ce4e5b9}));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, uint64_t{0x94d049bb133111eb}));
  return hn::Xor(z, hn::ShiftRight<31>(z));
}

// The numbers of a vector of elements. The sum of 12 words of 32 bits is the significand of a
// double from 2^52 on.
template <class D>
HWY_INLINE void SetVector(D d, uint64_t first, double* y) {
  const hn::RebindToFloat<D> numbers;
  auto state = MixOf(d, hn::Iota(d, first));
  auto sum = hn::Zero(d);
  for (int i = 0; i < 12; ++i) {
    state = hn::Add(state, hn::Set(d, uint64_t{0x9e3779b97f4a7c15}));
    sum = hn::Add(sum, hn::ShiftRight<32>(MixOf(d, state)));
  }
  const auto base = hn::Set(numbers, 0x1p52);
  const auto whole = hn::Sub(hn::BitCast(numbers, hn::Or(sum, hn::BitCast(d, base))), base);
  hn::StoreU(hn::Sub(hn::Mul(whole, hn::Set(numbers, 0x1p-32)), hn::Set(numbers, 6.0)), numbers, y);
}

void SetNumbers(uint64_t first, double* y, size_t count) {
  using D = hn::CappedTag<uint64_t, 8>;
  const D d;
  size_t k = 0;
  for (; k + hn::Lanes(d) <= count; k += hn::Lanes(d)) SetVector(d, first + k, y + k);
  double last[hn::MaxLanes(D())];
  SetVector(d, first + k, last);
  std::copy_n(last, count - k, y + k);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SetNumbers);

}  // namespace

void SetNormalNumbers(uint64_t stream, size_t first, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(SetNumbers)(stream + first, y.data(), y.size());
}

}  // namespace sextant
#endif
