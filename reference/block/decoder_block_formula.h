// The formula of a decoder block, for every number type: its operations and their intermediates.
// Shared by decoder_block, decoder_block_normed and decoder.
#pragma once

#include "reference/block/decoder_block_attributes.h"
#include "reference/layer/feed_forward.h"
#include "reference/layer/linear.h"
#include "reference/prove/block_parts.h"
#include "reference/rope/rope_rotated.h"

namespace sextant {

// A pointer may be null if the attributes do not need its weight.
template <class Real>
struct BlockWeights {
  const Tensor<Real>&attn_norm, &wq, &wk, &wv, &wo, &mlp_norm, &gate, &up, &down;
  QkNorm qk_norm = QkNorm::kNone;
  const Tensor<Real>*q_norm = nullptr, *k_norm = nullptr;
  const Tensor<Real>*attn_post_norm = nullptr, *mlp_post_norm = nullptr;  // for kSandwich
};

// The output tensors, already allocated with their final shapes.
template <class Real>
struct BlockTensors {
  Tensor<Real>&y, &normed, &q_rotated, &k_rotated, &attention_out, &middle, &hidden;
};

// a + b + c, added in any order.
template <class Real>
Tensor<Real> StoredSum(const Tensor<Real>& a, const Tensor<Real>& b, const Tensor<Real>& c) {
  const ScopedStep at(Step::kKeep);
  Tensor<Real> sum = a;
  for (size_t i = 0; i < sum.data.size(); ++i)
    sum.data[i] = SumOf(std::vector<Real>{a.data[i], b.data[i], c.data[i]});
  return sum;
}

template <class Real>
Tensor<Real> Projected(const Tensor<Real>& x, const Tensor<Real>& weight) {
  Tensor<Real> y({x.shape[0], weight.shape[0]});
  Linear()(x, weight, y);
  return Stored(std::move(y));
}

template <class Real>
Tensor<Real> Normed(const RmsNorm& norm, const Tensor<Real>& x, const Tensor<Real>& weight) {
  Tensor<Real> y(x.shape);
  norm(x, weight, y);
  return Stored(std::move(y));
}

// Normalises queries [S,H*D] or keys [S,K*D] as `how` states.
template <class Real>
Tensor<Real> QkNormed(const RmsNorm& norm, QkNorm how, const Tensor<Real>& x,
                      const Tensor<Real>* weight, size_t heads) {
  if (how == QkNorm::kNone) return x;
  if (how == QkNorm::kFull) return Normed(norm, x, *weight);
  Tensor<Real> y(x.shape);
  const size_t S = x.shape[0], D = heads == 0 ? 0 : x.shape[1] / heads;
  for (size_t h = 0; h < heads; ++h) {
    Tensor<Real> head({S, D}), head_weight({D});
    for (size_t d = 0; d < D; ++d) head_weight(d) = (*weight)(h * D + d);
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) head(s, d) = x(s, h * D + d);
    }
    head = Normed(norm, head, head_weight);
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) y(s, h * D + d) = head(s, d);
    }
  }
  return y;
}

template <class Real>
Tensor<Real> FeedForwardBranch(const DecoderBlockAttributes& a, const Tensor<Real>& x,
                               const BlockWeights<Real>& w, Tensor<Real>& hidden) {
  Tensor<Real> y(x.shape);
  FeedForward{.kind = a.kind}(x, w.gate, w.up, w.down, y, hidden);
  return Stored(std::move(y));
}

template <class Real>
void RunBlock(const DecoderBlockAttributes& a, const Tensor<Real>& x,
              const Tensor<double>& position, const BlockWeights<Real>& w,
              const BlockTensors<Real>& out);

}  // namespace sextant
