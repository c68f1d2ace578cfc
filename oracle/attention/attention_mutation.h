// Attention with one mutation.
#pragma once

#include "reference/attention/attention_rows.h"

namespace sextant::oracle {

enum class AttentionMutation {
  kNone,
  kKeyHeadsTiled,      // head h reads key head h mod K
  kValueHeadsTiled,    // the same for the heads of the values alone
  kSelfMasked,         // t < i
  kNextLeaked,         // t <= i + 1
  kByCaseLength,       // i = s + T - S: key_length is ignored
  kChunkByQuery,       // chunks are counted from the first query: cached keys are ignored
  kCapAfterMask,       // masked scores are -c
  kFiniteMask,         // masked scores are -1e4
  kCapAfterMax,        // c tanh((score - largest) / c)
  kCapNotInFirstTile,  // the first two keys are not capped
  kCapBeforeScale,     // scale c tanh(q.k / c)
  kCapNotScaledBack,   // tanh(score / c)
  kMeanOfEmpty,        // a row without keys is the mean of all values
  kEmptyLsePositive,   // lse of a row without keys is +infinity
  kOverQueries,        // the softmax runs over the queries
  kNoSoftmax,          // scores are the weights
  kPaddedLanes,        // keys are padded to a multiple of 8 with scores of 0
  kNoRescale,          // tiles of two keys are added without rescaling
  kSumNotRescaled,     // the sum of the weights alone is not rescaled
  kLastTileLost,       // keys after the last whole tile of two are not read
  kLseBase2,           // lse is a logarithm to base 2
  kLseLessLargest,     // the largest score is not added back to lse
  kLseOfSink,          // lse includes the sink
  kBiasSubtracted,     // score - bias
  kBiasOfFirstHead,    // every head has the bias of head 0
  kBiasOfFirstQuery,   // every query has the bias of query 0
  kBiasAfterSoftmax,   // the bias is added to the weights
  kSumInF16,           // weight times value is added to a sum in f16, key by key
  kSinkScaled,         // the sink is scaled as scores are
  kSinkOfFirstHead,    // every head has the sink of head 0
  kSinkOfKeyHead,      // every head has the sink with the index of its key head
  kSinkTwice,          // after a softmax with the sink, y is multiplied by 1 - its weight
  kSinkSubtracted,     // the sink is -sink
};

// Attend with the mutation. Instantiated for Counted and Rounded.
template <class Real>
void AttendMutated(AttentionMutation mutation, const AttentionAttributes& op,
                   const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse);

}  // namespace sextant::oracle
