// Fast linear biases of attention. The formula: reference/position/alibi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fast/simd/element.h"
#include "reference/position/alibi.h"

namespace sextant::fast {

struct AlibiInputs {
  AlibiForm form = AlibiForm::kDistance;
  std::span<const int64_t> query_position, key_position;  // at most 2^53 in magnitude
};

// bias[h,s,t], row-major, for every slope, query and key. Distances are differences of integers.
// Each is rounded to f32 (f64 for f64), multiplied by the slope in that type, and rounded to T.
template <Element T>
void FillAlibi(const AlibiInputs& inputs, std::span<const Computed<T>> slope, T* bias);

}  // namespace sextant::fast
