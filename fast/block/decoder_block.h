// A decoder block, composed of kernels. The formula:
// reference/block/decoder_block_formula.h.
#pragma once

#include <span>
#include <vector>

#include "fast/simd/element.h"
#include "reference/block/decoder_block_attributes.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::fast {

struct BlockExtents {
  size_t S = 0, M = 0, H = 0, K = 0, D = 0, F = 0;
};

// Weights, row-major without gaps, with the shapes of decoder_block's signature. The last four are
// those of decoder_block_normed; they may be empty if they are not used.
template <Element T>
struct BlockArrays {
  std::span<const Computed<T>> attn_norm, mlp_norm;
  std::span<const T> wq, wk, wv, wo, gate, up, down;
  std::span<const Computed<T>> q_norm{}, k_norm{}, attn_post_norm{}, mlp_post_norm{};
};

template <Element T>
struct BlockOutputs {
  std::vector<T> y, normed, q_rotated, k_rotated, attention_out, middle, hidden;
};

// Kernels compute in f32 (f64 for f64); every intermediate is rounded to T once.
template <Element T>
BlockOutputs<T> RunBlock(const DecoderBlockAttributes& op, QkNorm qk_norm, const BlockExtents& n,
                         std::span<const T> x, const Tensor<double>& position,
                         const BlockArrays<T>& weights);

// Runs a case of `decoder_block` or `decoder_block_normed`; their inputs have the same names.
Tensors RunBlockCase(const DecoderBlockAttributes& op, QkNorm qk_norm, DType dtype,
                     const Tensors& inputs);

}  // namespace sextant::fast
