// The formula of a decoder block with one mutation.
#pragma once

#include <optional>

#include "oracle/rope/measured/model.h"
#include "reference/block/decoder_block_formula.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

enum class BlockMutation {
  kNone,
  kNoAttentionResidual,    // h = A(N1 x)
  kNoFeedForwardResidual,  // y = F(N2 h)
  kResidualOfNormed,       // h = N1 x + A(N1 x)
  kNoAttentionNorm,        // A reads x; with placement=branch, A(x) is added without a norm
  kNoFeedForwardNorm,      // F reads h; with placement=branch, F(h) is added without a norm
  kNormOfSum,              // h = N1(x + A(x)), as in the original Transformer
  kValuesRotated,
  kKeysNotRotated,
  kQueriesNotRotated,
  kQueriesOneOn,        // a query has the position of the next token
  kRotatedByHead,       // the row of the table is the index of the head
  kRotatedBeforeSplit,  // one rotation over the channels of all heads, with exponents 2k / (H D)
  kHeadsInterleaved,    // channel d of head h in row d H + h of the projections
  kHeadsNotTransposed,  // the memory of [H,S,D] is read as [S,H*D]
  kKeyHeadsTiled,       // head h reads key head h mod K
  kSelfMasked,          // the AttentionMutation of the same name, as for the next four
  kNextLeaked,
  kCapBeforeScale,
  kCapAfterMask,
  kCapNotScaledBack,
  kMaskFromTheEnd,  // the last query has the index of the last key that is not padding
  kMeanOfEmpty,     // a token that reads none gets the mean of all values
  kQkNormAfterRotation,
  kKeysNotNormed,
  kPostNormOfSum,  // placement=sandwich: the second norm comes after the sum, h = P1(x + A(N1 x))
};

// Another rotation of the queries, or of the keys.
struct RotationOfHeads {
  RotaryModel model;
  Tensor<double> position;  // [1,S]
  bool of_keys = false;
};

// DecoderBlockFormula::Run with the mutation, and perhaps with another rotation. Instantiated for
// Counted and Rounded.
template <class Real>
void RunMutated(BlockMutation mutation, const DecoderBlockAttributes& a, const Tensor<Real>& x,
                const Tensor<double>& position, const BlockWeights<Real>& w,
                const BlockOutputs<Real>& out,
                const std::optional<RotationOfHeads>& rotation = std::nullopt);

}  // namespace sextant::oracle
