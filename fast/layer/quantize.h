// Fast quantization to codes of 8 or 4 bits. The definition: reference/layer/quantize.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fast/simd/element.h"
#include "reference/layer/quantize.h"

namespace sextant::fast {

// `count` blocks side by side. Each has `rows` rows of `width` numbers, `stride` apart.
struct QuantizedBlocks {
  size_t count, rows, width, stride;
  DType type;  // of the codes
  double limit, least;
  const Quantize* op = nullptr;  // if the scale is no quotient, or rounded to another type
  double tensor_scale = 1;
};

// x, codes: rows * stride elements; scale: one number for each block.
template <Element T>
void QuantizeRow(const QuantizedBlocks& blocks, const T* x, Computed<T>* scale,
                 uint8_t* codes) noexcept;

}  // namespace sextant::fast
