// Fast attention in all forms of reference/. The formula: reference/attention/attention.h.
#pragma once

#include <optional>

#include "fast/attention/attend_rows.h"

namespace sextant::fast {

// Calls the faster of AttendRows and AttendTiles: rows if few queries share a key head, as in
// decoding, otherwise tiles. Parts are computed on the threads of InParallelHere.
template <Element T>
void Attend(const AttendInputs<T>& in, T* y, Computed<T>* lse);

// The factor of the scores.
double ScaleOf(const AttentionAttributes& attributes, size_t D);

// Inputs of a case, by the names in its signature.
struct AttentionTensors {
  const StoredTensor &q, &k, &v;
  const StoredTensor *bias = nullptr, *sink = nullptr;
  std::optional<AddBias> add_bias{};
};
// Sets y, of the dtype of q, and lse.
void AttendCase(const AttentionAttributes& attributes, const AttentionTensors& inputs,
                StoredTensor& y, StoredTensor& lse);

}  // namespace sextant::fast
