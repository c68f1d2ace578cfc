// Attention in several heads with the projections around it, for speed. The formula:
// reference/attention/multi_head.h.
#pragma once

#include <algorithm>
#include <vector>

#include "fast/simd/element.h"
#include "reference/attention/attention.h"

namespace sextant::fast {

// [A,B,D] -> [B,A,D]: tokens with their heads to heads with their tokens, and back.
template <Element T>
void ExchangeAxes(size_t A, size_t B, size_t D, const T* x, T* y) {
  for (size_t a = 0; a < A; ++a) {
    for (size_t b = 0; b < B; ++b) std::copy_n(x + (a * B + b) * D, D, y + (b * A + a) * D);
  }
}

// Row-major, as cross_attention has them.
template <Element T>
struct MultiHeadWeights {
  const T *wq = nullptr, *bq = nullptr, *wk = nullptr, *bk = nullptr, *wv = nullptr, *bv = nullptr,
          *wo = nullptr, *bo = nullptr;
};

// What is handed on between the parts, and their scratch memory.
template <Element T>
struct MultiHeadMemory {
  MultiHeadMemory(const Attention& attention, size_t D);
  std::vector<T> q, k, v, mean;  // q[H,S,D] k[K,T,D] v[K,T,D] mean[S,H*D]
  std::vector<T> mean_by_head;   // [H,S,D]
  std::vector<Computed<T>> lse, scratch;
};

// attention: of one batch of S queries and T keys; channels: M of x and memory, D of a head.
struct MultiHeadShape {
  const Attention* attention = nullptr;
  size_t M = 0, D = 0;
};

// y[S,M]: x[S,M] reads memory[T,M]. Each part computes in f32 (f64 for f64) and rounds once what it
// hands on: recipe `exact_table`, with the parts' errors (fast/layer/linear.h,
// fast/attention/attend.h).
template <Element T>
void AttendHeads(const MultiHeadShape& shape, const T* x, const T* memory,
                 const MultiHeadWeights<T>& weights, MultiHeadMemory<T>& between, T* y) noexcept;

}  // namespace sextant::fast
