#include "fast/position/alibi.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/position/alibi.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_k = slope d_k
template <class T>
HWY_INLINE void Scale(const Computed<T>* distance, Computed<T> slope, T* y, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, n, y, [&](auto dk, size_t k) SEXTANT_INLINE {
    return hn::Mul(hn::LoadU(dk, distance + k), hn::Set(dk, slope));
  });
}

// Distances are computed for blocks of 2048 keys (f64: 1024), which stay in the first-level cache
// while all heads use them.
template <class T>
HWY_INLINE void FillAll(const AlibiInputs& in, std::span<const Computed<T>> slope, T* bias,
                        bool stream) {
  constexpr size_t kStep = kStreamBuffer / sizeof(Computed<T>);
  alignas(64) Computed<T> distance[kStep];
  alignas(64) T buffer[kStep];
  const size_t S = in.query_position.size(), keys = in.key_position.size();
  for (size_t s = 0; s < S; ++s) {
    const int64_t i = in.form == AlibiForm::kKey ? 0 : in.query_position[s];
    for (size_t t = 0; t < keys; t += kStep) {
      const size_t n = std::min(kStep, keys - t);
      for (size_t k = 0; k < n; ++k) {
        const int64_t d = in.key_position[t + k] - i;
        distance[k] =
            static_cast<Computed<T>>(in.form == AlibiForm::kSymmetric ? std::min(d, -d) : d);
      }
      for (size_t h = 0; h < slope.size(); ++h) {
        T* row = bias + (h * S + s) * keys + t;
        Scale<T>(distance, slope[h], stream ? buffer : row, n);
        if (stream) StreamCopy(buffer, row, n * sizeof(T));
      }
    }
  }
}

void FillElements(DType dtype, const AlibiInputs& in, UntypedInput slope, size_t slopes,
                  UntypedOutput bias, bool stream) {
  WithElement(dtype, [=, &in]<class T>() HWY_ATTR {
    const Computed<T>* first = slope;
    FillAll<T>(in, {first, slopes}, bias, stream);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(FillElements);

template <Element T>
void FillAlibi(const AlibiInputs& in, std::span<const Computed<T>> slope, T* bias) {
  const bool stream =
      ShouldStream(slope.size() * in.query_position.size() * in.key_position.size() * sizeof(T));
  const size_t size = in.query_position.size() * in.key_position.size();
  InRowParts(slope.size(), size, [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(FillElements)
    (kDType<T>, in, slope.data() + first, count, bias + first * size, stream);
    if (stream) StreamFence();
  });
}

template void FillAlibi(const AlibiInputs&, std::span<const double>, double*);
template void FillAlibi(const AlibiInputs&, std::span<const float>, float*);
template void FillAlibi(const AlibiInputs&, std::span<const float>, F16*);
template void FillAlibi(const AlibiInputs&, std::span<const float>, BF16*);

namespace {

// Slopes may have any dtype whose values Computed<T> can represent.
std::string Declines(const Case& c) {
  const auto& [inputs, outputs] = c.info().signature;
  if (c.DTypeOf(outputs[0]) != c.dtype()) return "no kernel for a bias of another dtype";
  const DType computed = c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  return Contains(computed, c.DTypeOf(inputs[0])) ? "" : "no kernel for slopes of more bits";
}

StoredTensors RunAlibi(const Case& c, const StoredTensors& inputs) {
  const std::vector<int64_t> query = ToIntegers(inputs[1]), key = ToIntegers(inputs[2]);
  const AlibiInputs in{StructOf<Alibi>(c).form, query, key};
  StoredTensors bias = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    FillAlibi<T>(in, Elements<Computed<T>>(inputs[0]).all(), bias[0].As<T>());
  });
  return bias;
}

}  // namespace

template <>
CaseKernel MakeKernel<Alibi>() {
  return {Declines, RunAlibi};
}

}  // namespace sextant::fast
#endif
