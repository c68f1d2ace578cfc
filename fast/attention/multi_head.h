// Fast multi-head attention with its projections. The formula: reference/attention/multi_head.h.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "fast/simd/element.h"
#include "reference/attention/attention.h"
#include "reference/attention/multi_head_weights.h"

namespace sextant::fast {

// y[B,A,D] = x[A,B,D] with the first two axes exchanged: [token, head] to [head, token] and back.
template <Element T>
void ExchangeAxes(size_t A, size_t B, size_t D, const T* x, T* y) {
  for (size_t a = 0; a < A; ++a) {
    for (size_t b = 0; b < B; ++b) std::copy_n(x + (a * B + b) * D, D, y + (b * A + a) * D);
  }
}

// Row-major, with the shapes of cross_attention.
template <Element T>
using MultiHeadWeights = MultiHeadWeightsOf<std::span<const T>, std::span<const T>>;

// Intermediates.
template <Element T>
struct MultiHeadMemory {
  MultiHeadMemory(const Attention& attention, size_t D);
  std::vector<T> q, k, v, mean;  // q[H,S,D] k[K,T,D] v[K,T,D] mean[S,H*D]
  std::vector<T> mean_by_head;   // [H,S,D]
  std::vector<Computed<T>> lse;
};

// Attention of one batch with S queries and T keys; x and memory have M channels, a head has D.
struct MultiHeadShape {
  const Attention* attention = nullptr;
  size_t M = 0, D = 0;
};

// y[S,M] = attention of x[S,M] to memory[T,M]. Each step computes in f32 (f64 for f64) and rounds
// its output once, as in recipe `exact_table`, with the errors stated in fast/layer/linear.h and
// fast/attention/attend_rows.h or attention_tiles.h.
template <Element T>
void AttendHeads(const MultiHeadShape& shape, const T* x, const T* memory,
                 const MultiHeadWeights<T>& weights, MultiHeadMemory<T>& buffers, T* y);

}  // namespace sextant::fast
