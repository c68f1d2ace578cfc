// Work on a case slice by slice, on several threads.
#pragma once

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <vector>

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant {

// The outputs of a slice, of their shapes, still without values.
template <class Real>
Outputs<Real> MakeOutputs(const Case& c, const Slice& slice) {
  Outputs<Real> outputs;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    outputs.push_back({c.DTypeOf(spec), Tensor<Real>(ShapeIn(c.ShapeOf(spec), spec, slice))});
  }
  return outputs;
}

inline Tensors TakeInputs(const Case& c, const Tensors& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.push_back({inputs[i].name, inputs[i].dtype,
                    Take(inputs[i].values, c.info().signature.inputs[i], slice)});
  }
  return part;
}

// Calls `work` with every slice, on so many threads; 0: on all cores.
template <class Work>
void ForEachSlice(const std::vector<Slice>& slices, int threads, Work work) {
  // More threads than cores are nobody's loss; without this TBB would grumble on stderr.
  if (threads <= 0) threads = tbb::info::default_concurrency();
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute(
      [&] { tbb::parallel_for(size_t{0}, slices.size(), [&](size_t i) { work(slices[i]); }); });
}

}  // namespace sextant
