// Feed-forward parts of decoder blocks, for speed. The formulas: reference/layer/feed_forward.h,
// reference/layer/feed_forward_bias.h.
#pragma once

#include "fast/layer/gated.h"
#include "fast/layer/linear.h"

namespace sextant::fast {

// Row-major: gate, up [F,M], down [M,F]; biases [F], [F], [M], or null.
template <Element T>
struct FeedForwardWeights {
  const T *gate = nullptr, *up = nullptr, *down = nullptr;
  const T *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
};

// What a call reads and writes: x, y [N,M]; hidden, other [N,F], the first what the last layer
// reads, the other scratch memory; sums: kLinearScratch elements of scratch memory.
template <Element T>
struct FeedForwardRows {
  size_t N = 0, M = 0, F = 0;
  const T* x = nullptr;
  T *y = nullptr, *hidden = nullptr, *other = nullptr;
  Computed<T>* sums = nullptr;
};

// hidden = f(x gate^T) (x up^T), y = hidden down^T, with biases where they are. Each layer as
// fast/layer/linear.h says and the gate as fast/layer/gated.h does, each rounded to T.
template <Element T>
void ApplyFeedForward(GateKind kind, const FeedForwardRows<T>& rows,
                      const FeedForwardWeights<T>& weights) noexcept;

// The answer to a case of `feed_forward` or `feed_forward_bias`.
Tensors AnswerFeedForward(const Case& c, const Tensors& inputs, GateKind kind);

}  // namespace sextant::fast
