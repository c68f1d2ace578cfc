// What attention computes: scale, cap, mask, heads and keys, measured from its answers.
#pragma once

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Other attributes: scale, cap, mask, alignment, windows, chunks, lengths, segments.
std::vector<Deviation> AttentionDeviations(const Case& c, const Tensors& inputs);

// Those attributes, the heads and the keys. `base` computes what is right, with empty parts.
std::vector<Explanation> MeasureParts(const Observation& seen, const Hypothesis& base,
                                      const WithParts& with_parts);

// The same for an operation with the member `parts`.
template <class ByParts>
std::vector<Explanation> MeasureAttention(const Observation& seen) {
  const auto operation = std::make_shared<Wrapped<ByParts, false>>();
  CopyAttributes(seen.c, *operation);
  return MeasureParts(seen, {operation, SharedInputs::Of(seen.inputs), seen.recipe},
                      WithPartsOf<ByParts>());
}

}  // namespace sextant::oracle
