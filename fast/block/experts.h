// Fast mixtures of experts. The definition: reference/block/experts.h.
#pragma once

#include <cstdint>

#include "fast/layer/feed_forward.h"
#include "reference/block/experts.h"

namespace sextant::fast {

// x, y [N,M]; indices, weights [N,K]; gate, up [E,F,M]; down [E,M,F]; hidden [N,K,F].
template <Element T>
struct ExpertsRows {
  size_t N = 0, K = 0, M = 0, F = 0;
  const T* x = nullptr;
  const int64_t* indices = nullptr;  // 0 to E-1
  const Computed<T>* weights = nullptr;
  const T *gate = nullptr, *up = nullptr, *down = nullptr;
  T *y = nullptr, *hidden = nullptr;
};

// Each slot of a token by ApplyFeedForward, whose results have the dtype of x; weights multiply,
// and slots are added in order, in f32 (f64 for f64), rounded once.
template <Element T>
void ApplyExperts(GateKind kind, Weighs weigh, const ExpertsRows<T>& rows);

}  // namespace sextant::fast
