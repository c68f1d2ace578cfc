// Fast feed-forward layers of decoder blocks. The formula: reference/layer/feed_forward.h.
#pragma once

#include "fast/layer/gated.h"
#include "fast/layer/linear.h"

namespace sextant::fast {

// Row-major gate[F,M], up[F,M], down[M,F]; biases [F], [F], [M], or null.
template <Element T>
struct FeedForwardWeights {
  const T *gate = nullptr, *up = nullptr, *down = nullptr;
  const T *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
};

// Arguments of a call: input x[N,M], output y[N,M], output hidden[N,F] (the input of the last
// layer); scratch memory other[N,F].
template <Element T>
struct FeedForwardRows {
  size_t N = 0, M = 0, F = 0;
  const T* x = nullptr;
  T *y = nullptr, *hidden = nullptr, *other = nullptr;
};

// hidden = f(x gate^T) (x up^T), y = hidden down^T, plus the biases that are not null. Layers and
// gate have the errors stated in fast/layer/linear.h and fast/layer/gated.h; each is rounded to T.
template <Element T>
void ApplyFeedForward(GateKind kind, const FeedForwardRows<T>& rows,
                      const FeedForwardWeights<T>& weights);

}  // namespace sextant::fast
