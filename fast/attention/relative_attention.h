// Fast self-attention with relative position representations. The formula:
// reference/attention/relative_attention.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fast/simd/element.h"

namespace sextant::fast {

// Row-major q[heads,S,D], k and v[heads,T,D], key_table and value_table[2 clip + 1,D].
template <Element T>
struct RelativeInputs {
  size_t heads = 0, D = 0;
  const T *q = nullptr, *k = nullptr, *v = nullptr, *key_table = nullptr, *value_table = nullptr;
  std::span<const int64_t> query_position, key_position;  // [S], [T]
  int64_t clip = 0;
  double scale = 1;
};

// Elements of scratch memory that RelativeAttend needs.
template <Element T>
size_t ScratchOf(const RelativeInputs<T>& in);

// y[heads,S,D] and scores[heads,S,T], before the softmax. Computes in f32 (f64 for f64) and rounds
// once. The product with a row of the key table is computed once per query, and weights are summed
// per row of the value table. Error: that of the recipe `exact_table`. y is 0 without keys, and for
// queries whose scores are all -infinity.
template <Element T>
void RelativeAttend(const RelativeInputs<T>& in, T* y, T* scores, Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
