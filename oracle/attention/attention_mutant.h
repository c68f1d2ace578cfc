// Attention with one mutation in it: the formula behind the mutated defects.
#pragma once

#include "reference/attention/attention_rows.h"

namespace sextant::oracle {

enum class AttentionMutation {
  kNone,
  kKeyHeadsTiled,      // head h reads key head h mod K
  kValueHeadsTiled,    // the values' heads alone
  kSelfMasked,         // t < i
  kNextLeaked,         // t <= i + 1
  kByCaseLength,       // i = s + T - S whatever key_length is
  kChunkByQuery,       // chunks are counted by queries, whatever is cached
  kCapAfterMask,       // what is masked weighs e^-c
  kFiniteMask,         // what is masked has the score -1e4
  kCapAfterMax,        // c tanh((score - largest) / c)
  kCapNotInFirstTile,  // the first two keys are not capped
  kCapBeforeScale,     // scale c tanh(q.k / c)
  kCapNotScaledBack,   // tanh(score / c)
  kMeanOfEmpty,        // a row without keys is the mean of all values
  kEmptyLsePositive,   // its lse is +infinity
  kOverQueries,        // the softmax goes over the queries
  kNoSoftmax,          // scores weigh as they are
  kPaddedLanes,        // a multiple of 8 keys, those added have score 0
  kNoRescale,          // tiles of two keys are added as they are
  kSumNotRescaled,     // the sum of the weights alone is not rescaled
  kLastTileLost,       // keys beyond whole tiles of two are not read
  kLseBase2,           // lse is to base 2
  kLseLessLargest,     // the largest score is not added again
  kLseOfSink,          // lse includes the sink
  kBiasBeforeCap,      // the bias is capped
  kBiasSubtracted,     // score - bias
  kBiasOfFirstHead,    // every head has the bias of head 0
  kBiasOfFirstQuery,   // every query has that of query 0
  kBiasAfterSoftmax,   // the bias is added to the weights
  kSinkScaled,         // the sink is scaled as scores are
  kSinkOfFirstHead,    // every head has the sink of head 0
  kSinkOfKeyHead,      // every head has that of its key head
  kSinkTwice,          // y is multiplied by the part without sink after a softmax with it
  kSinkSubtracted,     // e^-sink
};

// As Attend, with the mutation. For Counted and Rounded.
template <class Real>
void AttendMutant(AttentionMutation mutation, const AttentionAttributes& op,
                  const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse);

}  // namespace sextant::oracle
