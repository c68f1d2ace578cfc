// The numbers of codes of 8 or 4 bits. The definition: reference/layer/dequantize.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fast/layer/quantize.h"

namespace sextant::fast {

// codes, y: rows * stride elements; scale, zero: one number for each block; zero may be null.
template <Element T>
void DequantizeRow(const QuantizedBlocks& blocks, const uint8_t* codes, const Computed<T>* scale,
                   const Computed<T>* zero, T* y) noexcept;

}  // namespace sextant::fast
