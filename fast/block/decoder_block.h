// A decoder's block by the kernels of its parts. The formula:
// reference/block/decoder_block_formula.h.
#pragma once

#include <span>
#include <vector>

#include "fast/simd/element.h"
#include "reference/block/decoder_block_attributes.h"
#include "reference/number/tensor.h"

namespace sextant::fast {

struct BlockExtents {
  size_t S = 0, M = 0, H = 0, K = 0, D = 0, F = 0;
};

// Row-major, without gaps, as the signature of decoder_block has them; the last four may be empty
// where nothing reads them (decoder_block_normed).
template <Element T>
struct BlockArrays {
  std::span<const Computed<T>> attn_norm, mlp_norm;
  std::span<const T> wq, wk, wv, wo, gate, up, down;
  std::span<const Computed<T>> q_norm{}, k_norm{}, attn_post_norm{}, mlp_post_norm{};
};

template <Element T>
struct BlockAnswer {
  std::vector<T> y, normed, q_rotated, k_rotated, attention_out, middle, hidden;
};

// Every tensor that a part hands on is rounded to T once; the parts compute in f32 (f64 for f64).
template <Element T>
BlockAnswer<T> RunBlock(const DecoderBlockAttributes& op, QkNorm qk_norm, const BlockExtents& n,
                        std::span<const T> x, const Tensor<double>& position,
                        const BlockArrays<T>& weights);

// The answer to a case of `decoder_block` or `decoder_block_normed`, whose inputs are named alike.
Tensors AnswerBlock(const DecoderBlockAttributes& op, QkNorm qk_norm, DType dtype,
                    const Tensors& inputs);

}  // namespace sextant::fast
