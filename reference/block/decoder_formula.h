// The formula of a decoder, for every number type. The function that runs one block is a parameter,
// so that the mutations of a block are mutations of the decoder as well.
#pragma once

#include <algorithm>

#include "reference/attention/soft_cap.h"
#include "reference/block/decoder.h"
#include "reference/block/decoder_block_formula.h"
#include "reference/layer/embedding.h"

namespace sextant {

// The weights of block l.
template <class Real>
BlockWeights<Real> BlockOf(BlockWeights<Real> stacks, size_t l) {
  stacks.Visit([l](const char*, auto& weights) { weights = PartOf(weights, l); });
  return stacks;
}

// Computes states [L+1,S,M]. Returns the last state as an intermediate. run(x, weights, outputs)
// computes one block.
template <class Real, class Run>
Tensor<Real> RunBlocks(const Decoder& op, const Tensor<double>& token,
                       const DecoderWeights<Real>& w, Tensor<Real>& states, const Run& run) {
  const size_t S = token.shape[0], M = w.table.shape[1], L = w.blocks.attn_norm.shape[0];
  const auto heads = static_cast<size_t>(op.H.value), key_heads = static_cast<size_t>(op.K.value);
  const auto width = static_cast<size_t>(op.D.value);
  Tensor<Real> state({S, M});
  const auto store_state = [&](size_t l) {
    const size_t first = l * S * M;
    const Tensor<Real> next = IntermediatePart(states, first, state);
    std::ranges::copy(state.data, states.data.begin() + static_cast<ptrdiff_t>(first));
    state = next;
  };
  Embedding{.scale = op.embedding_scale}(token, w.table, state);
  store_state(0);
  for (size_t l = 0; l < L; ++l) {
    Tensor<Real> y({S, M}), normed({S, M}), attention_out({S, M}), middle({S, M});
    Tensor<Real> hidden({S, w.blocks.gate.shape[1]}), q({heads, S, width}),
        k({key_heads, S, width});
    run(state, BlockOf(w.blocks, l),
        BlockOutputs<Real>{.y = &y,
                           .normed = &normed,
                           .q_rotated = &q,
                           .k_rotated = &k,
                           .attention_out = &attention_out,
                           .middle = &middle,
                           .hidden = &hidden});
    state = std::move(y);
    store_state(l + 1);
  }
  return state;
}

// Computes logits [S,V] from `last`, the normalised last state.
template <class Real>
void ToLogits(const Decoder& op, const Tensor<Real>& last, const Weights<Real>& head,
              Tensor<Real>& logits) {
  MultiplyByWeights(last, head, logits);
  if (!op.logit_cap) return;
  const Tensor<Real> uncapped = logits;
  SoftCap{.cap = *op.logit_cap}(uncapped, logits);
}

}  // namespace sextant
