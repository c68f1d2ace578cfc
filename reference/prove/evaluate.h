// One evaluation of a slice, by any number type.
#pragma once

#include <algorithm>
#include <optional>

#include "reference/case/intermediate.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/read_slice.h"

namespace sextant {

// A formula and its arguments; `subject_outputs` as in ProveOptions. If they are null, an enclosing
// ScopedTrace is valid; it has whole tensors, so the slice must be the whole case.
struct AppliedFormula {
  Tensors InputsIn(const Slice& slice) const {
    return readers ? ReadInputs(c, *readers, slice) : ExtractInputs(c, inputs, slice);
  }

  const Operation& operation;
  const Case& c;
  const Tensors& inputs;
  const Tensors* subject_outputs;
  const TensorReaders* readers = nullptr;  // of the inputs, which are then empty
};

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

// The outputs of the slice.
template <class Real>
Outputs<Real> Evaluated(const AppliedFormula& formula, const Slice& slice) {
  const ScopedSlice in(&slice);
  const Tensors own = ExtractOutputs(formula.c, formula.subject_outputs, slice);
  std::optional<ScopedTrace> tracing;
  if (formula.subject_outputs) tracing.emplace(own);
  Outputs<Real> outputs = MakeOutputs<Real>(formula.c, slice);
  if (formula.readers)
    formula.operation.Evaluate(formula.InputsIn(slice), outputs);
  else
    EvaluateOn(formula.operation, formula.c, formula.inputs, slice, outputs);
  return outputs;
}

}  // namespace sextant
