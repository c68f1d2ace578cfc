#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/quantize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/cast.h"
#include "fast/layer/quantize.h"
#include "fast/layer/quantized_rows.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// The largest |x_k|, and `largest`.
template <class T>
HWY_INLINE Computed<T> LargestMagnitude(const T* x, size_t n, Computed<T> largest) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t lanes = hn::Lanes(d);
  auto most = hn::Set(d, largest);
  size_t k = 0;
  for (; k + lanes <= n; k += lanes) most = hn::Max(most, hn::Abs(Read(d, x + k)));
  largest = hn::GetLane(hn::MaxOfLanes(d, most));
  const hn::CappedTag<Computed<T>, 1> d1;
  for (; k < n; ++k) largest = std::max(largest, hn::GetLane(hn::Abs(Read(d1, x + k))));
  return largest;
}

// The scale of a block as it is answered, or before it is rounded.
template <class C>
C ScaleOf(const QuantizedBlocks& blocks, C largest) {
  C quotient = largest / static_cast<C>(blocks.limit);
  if (!blocks.op) return quotient;
  quotient /= static_cast<C>(blocks.tensor_scale);
  if (blocks.op->scale_rule == ScaleRule::kOne) return 1;
  if (blocks.op->scale_rule != ScaleRule::kQuotient)
    return static_cast<C>(blocks.op->PowerFor(static_cast<double>(largest)));
  if (SizeOf(blocks.op->scale_dtype) == 1)
    return static_cast<C>(
        blocks.op->StoredQuotient(static_cast<double>(largest), blocks.tensor_scale));
  const double rounded = RoundTo(blocks.op->scale_dtype, static_cast<double>(quotient));
  return blocks.op->codes_by == CodesBy::kStored ? static_cast<C>(rounded) : quotient;
}

// x to the nearest number of the grid, ties away from 0. The unit of x is a power of two, so that
// quotient and product are exact.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V HalfAway(D d, const Grid& grid, V x) {
  using T = hn::TFromD<D>;
  constexpr auto kExponent = static_cast<hwy::MakeUnsigned<T>>(
      sizeof(T) == 8 ? uint64_t{0x7ff} << 52 : uint64_t{0xff} << 23);
  const hn::RebindToUnsigned<D> du;
  const V power = hn::BitCast(d, hn::And(hn::BitCast(du, x), hn::Set(du, kExponent)));
  const V least = hn::Set(d, static_cast<T>(PowerOfTwo(grid.min_exponent)));
  const V unit =
      hn::Mul(hn::Max(power, least), hn::Set(d, static_cast<T>(PowerOfTwo(1 - grid.precision))));
  const V magnitude = hn::Div(hn::Abs(x), unit), whole = hn::Trunc(magnitude);
  const auto is_up = hn::Ge(hn::Sub(magnitude, whole), hn::Set(d, T{0.5}));
  const V rounded = hn::Add(whole, hn::IfThenElseZero(is_up, hn::Set(d, T{1})));
  return hn::CopySign(hn::Mul(rounded, unit), x);
}

// y_k = x_k / scale, limited to -limit and limit.
template <class T>
HWY_INLINE void Scale(const T* x, Computed<T> scale, Computed<T> limit, Computed<T>* y, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  ForEachVector(d, n, [&](auto dk, size_t k) SEXTANT_INLINE {
    const auto scaled = hn::Div(Read(dk, x + k), hn::Set(dk, scale));
    hn::StoreU(hn::Clamp(scaled, hn::Set(dk, -limit), hn::Set(dk, limit)), dk, y + k);
  });
}

// Blocks side by side, of at most kPart numbers in a row, or one block. A part of a row is
// converted at once.
constexpr size_t kPart = 4096;

template <class T>
HWY_INLINE void QuantizeTile(const QuantizedBlocks& blocks, size_t count, const T* x,
                             Computed<T>* scale, uint8_t* codes) {
  using C = Computed<T>;
  const size_t width = blocks.width;
  const Grid grid = GridOf(blocks.type);
  const C limit = static_cast<C>(blocks.limit);
  for (size_t g = 0; g < count; ++g) {
    C largest = static_cast<C>(blocks.least);
    for (size_t a = 0; a < blocks.rows; ++a)
      largest = LargestMagnitude(x + a * blocks.stride + g * width, width, largest);
    scale[g] = ScaleOf(blocks, largest);
  }
  C numbers[kPart];
  for (size_t a = 0; a < blocks.rows; ++a) {
    for (size_t first = 0; first < count * width; first += kPart) {
      const size_t size = std::min(kPart, count * width - first);
      const T* const from = x + a * blocks.stride + first;
      for (size_t k = 0; k < size;) {
        const size_t g = (first + k) / width, n = std::min(size - k, (g + 1) * width - first - k);
        Scale(from + k, scale[g] * static_cast<C>(blocks.tensor_scale), limit, numbers + k, n);
        k += n;
      }
      if (blocks.op && blocks.op->ties == Ties::kAway)
        ForEachVector(hn::ScalableTag<C>(), size, [&](auto dk, size_t k) SEXTANT_INLINE {
          hn::StoreU(HalfAway(dk, grid, hn::LoadU(dk, numbers + k)), dk, numbers + k);
        });
      Convert(kDType<C>, numbers, blocks.type, codes + a * blocks.stride + first,
              Overflow::kSaturate, size);
    }
  }
}

void QuantizeElements(DType dtype, const QuantizedBlocks& blocks, UntypedInput x,
                      UntypedOutput scale, uint8_t* codes) {
  WithElement(dtype, [=, &blocks]<class T>() HWY_ATTR {
    const T* from = x;
    Computed<T>* of_block = scale;
    const size_t tile = std::max<size_t>(1, kPart / std::max<size_t>(1, blocks.width));
    for (size_t g = 0; g < blocks.count; g += tile) {
      const size_t at = g * blocks.width;
      QuantizeTile(blocks, std::min(tile, blocks.count - g), from + at, of_block + g, codes + at);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(QuantizeElements);

template <Element T>
void QuantizeRow(const QuantizedBlocks& blocks, const T* x, Computed<T>* scale,
                 uint8_t* codes) noexcept {
  HWY_DYNAMIC_DISPATCH(QuantizeElements)(kDType<T>, blocks, x, scale, codes);
}

template void QuantizeRow(const QuantizedBlocks&, const double*, double*, uint8_t*) noexcept;
template void QuantizeRow(const QuantizedBlocks&, const float*, float*, uint8_t*) noexcept;
template void QuantizeRow(const QuantizedBlocks&, const F16*, float*, uint8_t*) noexcept;
template void QuantizeRow(const QuantizedBlocks&, const BF16*, float*, uint8_t*) noexcept;

namespace {

StoredTensors RunQuantize(const Case& c, const StoredTensors& inputs) {
  const Shape shape = inputs[0].shape();
  const size_t size = shape[1] * shape[2] * shape[3];
  return QuantizedRows(c, StructOf<Quantize>(c), inputs, shape,
                       [&]<class T>(size_t n, T*) { return inputs[0].As<T>() + n * size; });
}

}  // namespace

template <>
CaseKernel MakeKernel<Quantize>() {
  return {DeclinesMixedTypes, RunQuantize};
}

}  // namespace sextant::fast
#endif
