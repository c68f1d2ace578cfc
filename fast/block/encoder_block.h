// A fast block of the original Transformer's encoder. The formula:
// reference/block/encoder_block.h.
#pragma once

#include <span>
#include <vector>

#include "fast/attention/multi_head.h"
#include "fast/simd/element.h"
#include "reference/block/encoder_block.h"

namespace sextant::fast {

template <Element T>
using EncoderWeights =
    EncoderWeightsOf<std::span<const T>, std::span<const T>, std::span<const Computed<T>>>;

// Intermediates.
template <Element T>
struct EncoderMemory {
  EncoderMemory(const EncoderBlock& block, size_t M, size_t D, size_t F);
  size_t M, D, F;
  Attention attention;
  MultiHeadMemory<T> heads;
  std::vector<T> positioned, read;               // [S,M]: x + positions; the input of a branch
  std::vector<T> attention_out, middle, hidden;  // [S,M] [S,M] [S,F]
};

// y[S,M] of x[S,M] and positions[S,M]. Each kernel computes in f32 (f64 for f64) and rounds its
// output once, as in recipe `exact_table`, with the errors stated at the kernels.
template <Element T>
void Encode(const EncoderBlock& block, const T* x, const T* positions,
            const EncoderWeights<T>& weights, EncoderMemory<T>& buffers, T* y);

}  // namespace sextant::fast
