// The outputs and inputs of a slice of a case.
#pragma once

#include <utility>
#include <vector>

#include "reference/case/case.h"
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

inline Tensors ExtractInputs(const Case& c, const Tensors& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.push_back({inputs[i].name, inputs[i].dtype,
                    ExtractSlice(inputs[i].values, c.info().signature.inputs[i], slice)});
  }
  return part;
}

// As in prove.h, of the slice alone: the tensors have its shape.
Tensors EvaluateByRecipe(const Evaluation& evaluation, const Slice& slice);
std::vector<PermittedTensor> PermittedErrors(const Evaluation& evaluation, const Slice& slice);

}  // namespace sextant
