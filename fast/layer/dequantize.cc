#include "fast/layer/dequantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/dequantize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/cast.h"
#include "fast/layer/quantized_rows.h"
#include "fast/simd/element-inl.h"
#include "reference/layer/dequantize.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_k = (x_k - zero) factor
template <class T>
HWY_INLINE void Multiply(const Computed<T>* x, Computed<T> zero, Computed<T> factor, T* y,
                         size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, n, y, [&](auto dk, size_t k) SEXTANT_INLINE {
    const auto number = hn::Sub(hn::LoadU(dk, x + k), hn::Set(dk, zero));
    return hn::Mul(number, hn::Set(dk, factor));
  });
}

// A part of a row is converted at once.
template <class T>
HWY_INLINE void MultiplyRow(const QuantizedBlocks& blocks, const uint8_t* codes,
                            const Computed<T>* scale, const Computed<T>* zero, T* y) {
  constexpr size_t kPart = 4096;
  Computed<T> numbers[kPart];
  const size_t width = blocks.width, count = blocks.count * width;
  for (size_t first = 0; first < count; first += kPart) {
    const size_t size = std::min(kPart, count - first);
    Convert(blocks.type, codes + first, kDType<Computed<T>>, numbers, Overflow::kInf, size);
    for (size_t k = 0; k < size;) {
      const size_t g = (first + k) / width, n = std::min(size - k, (g + 1) * width - first - k);
      Multiply(numbers + k, zero ? zero[g] : 0, scale[g], y + first + k, n);
      k += n;
    }
  }
}

void DequantizeElements(DType dtype, const QuantizedBlocks& blocks, const uint8_t* codes,
                        UntypedInput scale, UntypedInput zero, UntypedOutput y) {
  WithElement(dtype, [=, &blocks]<class T>() HWY_ATTR {
    T* const to = y;
    for (size_t a = 0; a < blocks.rows; ++a)
      MultiplyRow<T>(blocks, codes + a * blocks.stride, scale, zero, to + a * blocks.stride);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(DequantizeElements);

template <Element T>
void DequantizeRow(const QuantizedBlocks& blocks, const uint8_t* codes, const Computed<T>* scale,
                   const Computed<T>* zero, T* y) noexcept {
  HWY_DYNAMIC_DISPATCH(DequantizeElements)(kDType<T>, blocks, codes, scale, zero, y);
}

template void DequantizeRow(const QuantizedBlocks&, const uint8_t*, const double*, const double*,
                            double*) noexcept;
template void DequantizeRow(const QuantizedBlocks&, const uint8_t*, const float*, const float*,
                            float*) noexcept;
template void DequantizeRow(const QuantizedBlocks&, const uint8_t*, const float*, const float*,
                            F16*) noexcept;
template void DequantizeRow(const QuantizedBlocks&, const uint8_t*, const float*, const float*,
                            BF16*) noexcept;

namespace {

StoredTensors RunDequantize(const Case& c, const StoredTensors& inputs) {
  const size_t A = ExtentOf(c, "A"), G = ExtentOf(c, "G"), M = ExtentOf(c, "M");
  const QuantizedBlocks blocks{G, A, M, G * M, inputs[0].dtype(), 0, 0};
  StoredTensors y = OutputsOf(c);
  const std::vector<double> numbers = ValuesOf(inputs[1]).data;
  const StoredTensor* const of_tensor = FindInput(inputs, "tensor_scale");
  const double tensor_scale = of_tensor ? ValuesOf(*of_tensor).data[0] : 1;
  WithElement(c.dtype(), [&]<class T>() {
    std::vector<Computed<T>> scale(numbers.begin(), numbers.end());
    const Elements<Computed<T>> zero(inputs, "zero");
    for (Computed<T>& s : scale) s *= static_cast<Computed<T>>(tensor_scale);
    InRowParts(ExtentOf(c, "N"), A * G * M, [&](size_t first, size_t count) {
      for (size_t n = first; n < first + count; ++n)
        DequantizeRow(blocks, inputs[0].As<uint8_t>() + n * A * G * M, scale.data() + n * G,
                      zero.data() ? zero.data() + n * G : nullptr, y[0].As<T>() + n * A * G * M);
    });
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Dequantize>() {
  return {DeclinesMixedTypes, RunDequantize};
}

}  // namespace sextant::fast
#endif
