// Fast relative position bias of T5. The formula: reference/position/relative_bias.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fast/simd/element.h"
#include "reference/position/relative_buckets.h"

namespace sextant::fast {

struct RelativePositions {
  const RelativeBuckets& buckets;
  std::span<const int64_t> query, key;  // at most 2^53 in magnitude
};

// bias[h,s,t] = table[row of the bucket, h], copied bit by bit. Both are row-major; the table has
// `heads` columns, fewer than 2^20. The row of each key is computed once for all heads of a part.
template <Element T>
void FillRelativeBias(const RelativePositions& positions, const T* table, size_t heads, T* bias);

}  // namespace sextant::fast
