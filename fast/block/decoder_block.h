// A decoder block, composed of kernels. The formula:
// reference/block/decoder_block_formula.h.
#pragma once

#include <span>
#include <vector>

#include "fast/simd/element.h"
#include "reference/block/block_tensors.h"
#include "reference/block/decoder_block_attributes.h"
#include "reference/case/case.h"

namespace sextant::fast {

struct BlockExtents {
  size_t S = 0, M = 0, H = 0, K = 0, D = 0, F = 0;
};
BlockExtents BlockExtentsOf(const Case& c);

// Row-major without gaps, with the shapes of decoder_block's signature.
template <Element T>
using BlockWeights = BlockWeightsOf<std::span<const Computed<T>>, std::span<const T>>;
template <Element T>
using BlockOutputs = BlockOutputsOf<std::vector<T>>;

// Kernels compute in f32 (f64 for f64); every intermediate is rounded to T once.
template <Element T>
BlockOutputs<T> RunBlock(const DecoderBlockAttributes& op, const BlockExtents& n,
                         std::span<const T> x, const Tensor<double>& position,
                         const BlockWeights<T>& weights);

}  // namespace sextant::fast
