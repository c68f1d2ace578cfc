// A slice of a case: its inputs, its outputs, and their evaluation by any number type.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "reference/case/case.h"
#include "reference/case/intermediate.h"
#include "reference/number/real.h"
#include "reference/prove/prove.h"
#include "reference/prove/slices.h"

namespace sextant {

// The elements of a slice in which a case is proven: about as many as a core can keep in its cache.
size_t SliceElements(const Case& c);
// False if Enclose (prove.h) proves every element of the case.
bool HasLevel1(const Case& c);

// The outputs of a slice, allocated with their shapes, without values: what a formula does not
// write is unspecified.
template <class Real>
Outputs<Real> MakeOutputs(const Case& c, const Slice& slice) {
  Outputs<Real> outputs;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Shape shape = ShapeIn(c.ShapeOf(spec), spec, slice);
    std::vector<Real> none(CountOf(shape), Unspecified<Real>());
    outputs.push_back({c.DTypeOf(spec), Tensor<Real>(shape, std::move(none))});
  }
  return outputs;
}

// The part of a tensor that lies in the slice, as ExtractSlice (slices.h).
inline NamedTensor ReadSlice(const TensorReader& whole, const TensorSpec& spec,
                             const Slice& slice) {
  NamedTensor part{whole.name(), whole.dtype(),
                   Tensor<double>(ShapeIn(whole.shape(), spec, slice))};
  std::span<double> to = part.values.data;
  for (const auto& [first, count] : RunsIn(whole.shape(), spec, slice)) {
    whole.Read(first, to.first(count));
    to = to.subspan(count);
  }
  return part;
}

inline Tensors ExtractInputs(const Case& c, const Tensors& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.push_back({inputs[i].name, inputs[i].dtype,
                    ExtractSlice(inputs[i].values, c.signature().inputs[i], slice)});
  }
  return part;
}

// The part of the inputs that lies in a slice.
inline Tensors InputsIn(const Case& c, const InputTensors& inputs, const Slice& slice) {
  if (inputs.whole) return ExtractInputs(c, *inputs.whole, slice);
  Tensors part;
  for (size_t i = 0; i < inputs.readers->size(); ++i)
    part.push_back(ReadSlice((*inputs.readers)[i], c.signature().inputs[i], slice));
  return part;
}

inline Tensors InputsIn(const Evaluation& evaluation, const Slice& slice) {
  return InputsIn(evaluation.c, evaluation.inputs, slice);
}

// The part of a subject's outputs that lies in a slice.
inline Tensors OutputsIn(const Evaluation& evaluation, const Slice& slice) {
  Tensors part;
  if (!evaluation.subject_outputs) return part;
  const Slice own = evaluation.subject_part ? Within(slice, *evaluation.subject_part) : slice;
  for (const TensorSpec& spec : evaluation.c.info().signature.outputs) {
    const auto at = std::ranges::find(*evaluation.subject_outputs, spec.name, &NamedTensor::name);
    if (at != evaluation.subject_outputs->end())
      part.push_back({at->name, at->dtype, ExtractSlice(at->values, spec, own)});
  }
  return part;
}

// The outputs of the slice. For Counted and Rounded, the recipe must be in scope.
template <class Real>
Outputs<Real> Evaluated(const Evaluation& evaluation, const Slice& slice) {
  const ScopedSlice in(&slice);
  const Tensors own = OutputsIn(evaluation, slice);
  std::optional<ScopedTrace> tracing;
  if (evaluation.subject_outputs) tracing.emplace(own);
  Outputs<Real> outputs = MakeOutputs<Real>(evaluation.c, slice);
  if (slice.ranges.empty() && evaluation.inputs.whole)
    evaluation.operation.Evaluate(*evaluation.inputs.whole, outputs);  // no copy: it may be large
  else
    evaluation.operation.Evaluate(InputsIn(evaluation, slice), outputs);
  return outputs;
}

// As in prove.h, of the slice alone: the tensors have its shape.
Tensors EvaluateByRecipe(const Evaluation& evaluation, const Slice& slice);
std::vector<PermittedTensor> PermittedErrors(const Evaluation& evaluation, const Slice& slice);

}  // namespace sextant
