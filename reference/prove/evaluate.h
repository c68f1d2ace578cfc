// One evaluation of a slice, by any number type.
#pragma once

#include <algorithm>
#include <optional>

#include "reference/case/intermediate.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/read_slice.h"

namespace sextant {

// The part of the inputs that lies in a slice.
inline Tensors InputsIn(const Evaluation& evaluation, const Slice& slice) {
  const auto& [c, inputs, recipe, operation, subject_outputs] = evaluation;
  return inputs.whole ? ExtractInputs(c, *inputs.whole, slice)
                      : ReadInputs(c, *inputs.readers, slice);
}

// The part of a subject's outputs that lies in a slice.
inline Tensors ExtractOutputs(const Case& c, const Tensors* subject_outputs, const Slice& slice) {
  Tensors part;
  if (!subject_outputs) return part;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(*subject_outputs, spec.name, &NamedTensor::name);
    if (at != subject_outputs->end())
      part.push_back({at->name, at->dtype, ExtractSlice(at->values, spec, slice)});
  }
  return part;
}

// The outputs of the slice. For Counted and Rounded, the recipe must be in scope.
template <class Real>
Outputs<Real> Evaluated(const Evaluation& evaluation, const Slice& slice) {
  const auto& [c, inputs, recipe, operation, subject_outputs] = evaluation;
  const ScopedSlice in(&slice);
  const Tensors own = ExtractOutputs(c, subject_outputs, slice);
  std::optional<ScopedTrace> tracing;
  if (subject_outputs) tracing.emplace(own);
  Outputs<Real> outputs = MakeOutputs<Real>(c, slice);
  if (slice.ranges.empty() && inputs.whole)
    operation.Evaluate(*inputs.whole, outputs);  // without a copy: they may be large
  else
    operation.Evaluate(InputsIn(evaluation, slice), outputs);
  return outputs;
}

}  // namespace sextant
