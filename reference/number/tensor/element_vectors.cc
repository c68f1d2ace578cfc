#include "reference/number/tensor/element_vectors.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/tensor/element_vectors.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/tensor/for_each_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void WidenF32(const float* from, double* to, size_t count) {
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, from + k)), d, to + k);
  });
}

// The bits of bf16 are the upper half of those of f32.
void WidenBF16(const uint16_t* from, double* to, size_t count) {
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    const hn::RebindToUnsigned<decltype(narrow)> bits;
    const hn::Rebind<uint16_t, decltype(d)> half;
    const auto upper = hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(half, from + k)));
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(narrow, upper)), d, to + k);
  });
}

// The nearest floats. Without instructions for vectors, Highway turns infinity into a finite
// number.
template <class D>
HWY_INLINE hn::VFromD<hn::Rebind<float, D>> NearestFloats(D d, const double* from) {
  const hn::Rebind<float, D> narrow;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  float numbers[hn::MaxLanes(D())];
  for (size_t i = 0; i < hn::Lanes(d); ++i) numbers[i] = static_cast<float>(from[i]);
  return hn::LoadU(narrow, numbers);
#else
  return hn::DemoteTo(narrow, hn::LoadU(d, from));
#endif
}

void NarrowF32(const double* from, float* to, size_t count) {
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    hn::StoreU(NearestFloats(d, from + k), narrow, to + k);
  });
}

void NarrowBF16(const double* from, uint16_t* to, size_t count) {
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    const hn::RebindToSigned<decltype(narrow)> bits;
    const hn::Rebind<uint16_t, decltype(d)> half;
    const auto number = NearestFloats(d, from + k);
    const auto upper =
        hn::And(hn::ShiftRight<16>(hn::BitCast(bits, number)), hn::Set(bits, 0xffff));
    hn::StoreU(hn::DemoteTo(half, upper), half, to + k);
  });
}

bool AreFinite(const double* x, size_t count) {
  bool all = true;
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    all = all && hn::AllTrue(d, hn::Lt(hn::Abs(hn::LoadU(d, x + k)), infinity));
  });
  return all;
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(WidenF32);
HWY_EXPORT(WidenBF16);
HWY_EXPORT(NarrowF32);
HWY_EXPORT(NarrowBF16);
HWY_EXPORT(AreFinite);

}  // namespace

void Widen(const float* elements, std::span<double> to) {
  HWY_DYNAMIC_DISPATCH(WidenF32)(elements, to.data(), to.size());
}
void WidenBF16(const uint16_t* elements, std::span<double> to) {
  HWY_DYNAMIC_DISPATCH(WidenBF16)(elements, to.data(), to.size());
}
void Narrow(std::span<const double> values, float* elements) {
  HWY_DYNAMIC_DISPATCH(NarrowF32)(values.data(), elements, values.size());
}
void NarrowToBF16(std::span<const double> values, uint16_t* elements) {
  HWY_DYNAMIC_DISPATCH(NarrowBF16)(values.data(), elements, values.size());
}

bool AreFinite(std::span<const double> values) {
  return HWY_DYNAMIC_DISPATCH(AreFinite)(values.data(), values.size());
}

}  // namespace sextant
#endif
