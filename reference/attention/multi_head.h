// Multi-head attention with its projections, for every number type. Shared by cross_attention and
// encoder_block.
#pragma once

#include <utility>

#include "reference/attention/attention.h"
#include "reference/attention/multi_head_weights.h"
#include "reference/layer/linear.h"
#include "reference/number/matrix_product.h"
#include "reference/prove/block_parts.h"

namespace sextant {

// Intermediates, already allocated with their final shapes: q[H,S,D] k[K,T,D] v[K,T,D] mean[S,H*D].
template <class Real>
struct MultiHeadTensors {
  Tensor<Real>&q, &k, &v, &mean;
};

template <class Real>
Tensor<Real> Projected(const Tensor<Real>& x, const Tensor<Real>& weight,
                       const Tensor<Real>& bias) {
  Tensor<Real> y({x.shape[0], weight.shape[0]});
  MultiplyByRows(x, weight, y);
  AddToRows(bias, y);
  return y;
}

// Returns y [S,M]: queries from x [S,M], keys and values from memory [T,M].
template <class Real>
Tensor<Real> MultiHead(const Attention& attention, const Tensor<Real>& x,
                       const Tensor<Real>& memory, const MultiHeadWeights<Real>& w,
                       const MultiHeadTensors<Real>& out) {
  const auto H = static_cast<size_t>(attention.H.value), K = static_cast<size_t>(attention.K.value);
  const Tensor<Real> q = IntermediateAs(SplitHeads(Projected(x, w.wq, w.bq), H), out.q);
  const Tensor<Real> k = IntermediateAs(SplitHeads(Projected(memory, w.wk, w.bk), K), out.k);
  const Tensor<Real> v = IntermediateAs(SplitHeads(Projected(memory, w.wv, w.bv), K), out.v);
  Tensor<Real> mean(q.shape), lse({1, H, x.shape[0]});
  attention.Attend(q, k, v, mean, lse);
  out.mean = MergeHeads(mean);
  return Projected(Intermediate(out.mean), w.wo, w.bo);
}

}  // namespace sextant
