// The formula of a decoder's block with one mistake in how its parts are put together.
#pragma once

#include "oracle/defect/defect.h"
#include "reference/block/decoder_block_formula.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

enum class BlockMistake {
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
  kTurnedByHead,        // the table's row is the head's number
  kTurnedBeforeSplit,   // one rotation over the channels of all heads, its exponents over H D
  kHeadsInterleaved,    // channel d of head h in row d H + h of the projections
  kHeadsNotTransposed,  // [H,S,D] taken for [S,H*D]
  kKeyHeadsTiled,       // head h reads key head h mod K
  kSelfMasked,          // attention itself is mistaken: AttentionMistake of that name
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

// As RunBlock, with the mistake. For Counted and Rounded.
template <class Real>
void RunMistaken(BlockMistake mistake, const DecoderBlockAttributes& a, const Tensor<Real>& x,
                 const Tensor<double>& position, const BlockWeights<Real>& w,
                 const BlockTensors<Real>& out);

// Those that every block may have.
struct NamedBlockMistake {
  const char *name, *why;
  BlockMistake mistake;
};
inline constexpr NamedBlockMistake kBlockMistakes[] = {
    {"attention_residual_missing", "x is not added to what attention gives",
     BlockMistake::kNoAttentionResidual},
    {"feed_forward_residual_missing", "y is what the feed-forward gives alone",
     BlockMistake::kNoFeedForwardResidual},
    {"residual_of_normed", "the normalised x is added, not x itself",
     BlockMistake::kResidualOfNormed},
    {"attention_norm_missing", "attention has no norm before it, or behind it where it is due",
     BlockMistake::kNoAttentionNorm},
    {"feed_forward_norm_missing",
     "the feed-forward has no norm before it, or behind it where it is due",
     BlockMistake::kNoFeedForwardNorm},
    {"norm_of_sum", "x + A(x) is normalised, as in the first Transformer",
     BlockMistake::kNormOfSum},
    {"values_rotated", "the values are rotated too", BlockMistake::kValuesRotated},
    {"keys_not_rotated", "only the queries are rotated", BlockMistake::kKeysNotRotated},
    {"queries_not_rotated", "only the keys are rotated", BlockMistake::kQueriesNotRotated},
    {"queries_one_on", "the position is taken after the cache has grown (fla#766)",
     BlockMistake::kQueriesOneOn},
    {"turned_by_head", "the rotation goes over the axis of heads, for want of a transposition",
     BlockMistake::kTurnedByHead},
    {"turned_before_split",
     "one rotation over all H D channels, before the heads are split "
     "(ReaLLMASIC/ReaLLM-Forge#35)",
     BlockMistake::kTurnedBeforeSplit},
    {"heads_interleaved", "channels of the projections are dealt out to the heads in turn",
     BlockMistake::kHeadsInterleaved},
    {"heads_not_transposed", "heads are put together without moving tokens to the front",
     BlockMistake::kHeadsNotTransposed},
    {"key_heads_tiled", "query head h reads key head h mod K (onnx/onnx@062ee9228)",
     BlockMistake::kKeyHeadsTiled},
    {"self_masked", "a query does not see its own key (t < i)", BlockMistake::kSelfMasked},
    {"next_leaked", "a query sees the next key too (t <= i + 1)", BlockMistake::kNextLeaked},
    {"cap_before_scale", "scores are capped before they are scaled", BlockMistake::kCapBeforeScale},
    {"cap_after_mask", "masked scores become -c, not -infinity (onnx/onnx@fe30560bd)",
     BlockMistake::kCapAfterMask},
    {"cap_not_scaled_back", "tanh(score / c), not times c", BlockMistake::kCapNotScaledBack},
    {"mask_from_the_end", "the last token is taken for the last one that is no padding",
     BlockMistake::kMaskFromTheEnd},
    {"empty_rows_mean",
     "with a finite number for -infinity a token that reads none gets the mean of all values",
     BlockMistake::kMeanOfEmpty},
};

}  // namespace sextant::oracle
