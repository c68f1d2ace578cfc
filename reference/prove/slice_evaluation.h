// One case evaluated slice by slice, on all cores, with numbers of any type.
#pragma once

#include <functional>

#include "reference/case/case.h"
#include "reference/prove/prove.h"
#include "reference/prove/slices.h"
#include "reference/prove/trace.h"

namespace sextant {

// What is asked; `own` are the outputs of a subject, of ProveOptions.
struct Asked {
  const Operation& operation;
  const Case& c;
  const Tensors& inputs;
  const Tensors* own;
};

// The parts of tensors that belong to a slice.
Tensors TakeInputs(const Case& c, const Tensors& inputs, const Slice& slice);
Tensors TakeOwn(const Case& c, const Tensors* own, const Slice& slice);

// Runs `work` on every slice of the case, on the threads of the options, and reports progress.
void ForEachSlice(const Case& c, const ProveOptions& options,
                  const std::function<void(const Slice&)>& work);

// Empty outputs of a slice.
template <class Real>
Outputs<Real> MakeOutputs(const Case& c, const Slice& slice) {
  Outputs<Real> outputs;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    outputs.push_back({c.DTypeOf(spec), Tensor<Real>(ShapeIn(c.ShapeOf(spec), spec, slice))});
  }
  return outputs;
}

// The outputs of a slice.
template <class Real>
Outputs<Real> Evaluated(const Asked& asked, const Slice& slice) {
  const InSlice in(slice);
  const Tensors own = TakeOwn(asked.c, asked.own, slice);
  const Tracing tracing(own);
  Outputs<Real> outputs = MakeOutputs<Real>(asked.c, slice);
  asked.operation.Evaluate(TakeInputs(asked.c, asked.inputs, slice), outputs);
  return outputs;
}

}  // namespace sextant
