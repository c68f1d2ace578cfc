// The formula of a decoder's block with one mutation in how its parts are put together.
#pragma once

#include "reference/block/decoder_block_formula.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

enum class BlockMutation {
  kNone,
  kNoAttentionResidual,    // h = A(N1 x)
  kNoFeedForwardResidual,  // y = F(N2 h)
  kResidualOfNormed,       // h = N1 x + A(N1 x)
  kNoAttentionNorm,        // A reads x; of a branch, A(x) is added as it is
  kNoFeedForwardNorm,      // F reads h; of a branch, F(h) is added as it is
  kNormOfSum,              // h = N1(x + A(x)), as the first Transformer had it
  kValuesRotated,
  kKeysNotRotated,
  kQueriesNotRotated,
  kQueriesOneOn,        // the query stands one token after its key
  kRotatedByHead,       // the table's row is the head's number
  kRotatedBeforeSplit,  // one rotation over the channels of all heads, its exponents over H D
  kHeadsInterleaved,    // channel d of head h in row d H + h of the projections
  kHeadsNotTransposed,  // [H,S,D] taken for [S,H*D]
  kKeyHeadsTiled,       // head h reads key head h mod K
  kSelfMasked,          // attention itself is mutant: AttentionMutation of that name
  kNextLeaked,
  kCapBeforeScale,
  kCapAfterMask,
  kCapNotScaledBack,
  kMaskFromTheEnd,  // the last token stands at the last one that is no padding
  kMeanOfEmpty,     // a token that reads none gets the mean of all values
  kQkNormAfterRotation,
  kKeysNotNormed,
  kPostNormOfSum,  // a sandwich's norm after adding: h = P1(x + A(N1 x))
};

// As RunBlock, with the mutation. For Counted and Rounded.
template <class Real>
void RunMutant(BlockMutation mutation, const DecoderBlockAttributes& a, const Tensor<Real>& x,
               const Tensor<double>& position, const BlockWeights<Real>& w,
               const BlockTensors<Real>& out);

}  // namespace sextant::oracle
