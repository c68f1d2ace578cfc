// Fast merge of attention over two parts of the keys. The formula:
// reference/attention/attention_merge.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Row-major y1 and y2[N,E], lse1 and lse2[N].
template <Element T>
struct AttentionParts {
  size_t N = 0, E = 0;
  const T *y1 = nullptr, *y2 = nullptr;
  const Computed<T>*lse1 = nullptr, *lse2 = nullptr;
};

// y[N,E] and lse[N]; 0 and -infinity if both parts have no keys. Computes in f32 (f64 for f64) and
// rounds once. Error: that of the recipe `exact_table`.
template <Element T>
void MergeParts(const AttentionParts<T>& in, T* y, Computed<T>* lse);

}  // namespace sextant::fast
