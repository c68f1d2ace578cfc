// Parts of large cases: what does not fit into memory at once is drawn, proven and written part by
// part.
#pragma once

#include <memory>
#include <vector>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "reference/prove/slices.h"

namespace sextant {

// Parts of a case, or of a slice of it, that have about at most `elements` elements of all outputs
// together, in row-major order of the dimensions that are cut. Operations without slices have one
// part.
CaseCut PartsOf(const Case& c, size_t elements, const Slice& slice = {});

// About how long a slice takes to prove or judge, relative to others: the elements of its outputs
// times the terms of each, which are about the extents that the inputs have and the outputs have
// not, and of causal attention the share of the keys that its queries see.
double PredictedCost(const Case& c, const Slice& slice = {});

// The inputs of one part, in memory.
class InputsOfPart {
 public:
  // Reads them on `threads` threads (0: all cores). The case must outlive this.
  InputsOfPart(const Case& c, const TensorReaders& whole, const Slice& part, int threads);
  ~InputsOfPart();
  InputsOfPart(const InputsOfPart&) = delete;
  InputsOfPart& operator=(const InputsOfPart&) = delete;
  // For an evaluation of the case. It can only read slices of the part.
  InputTensors tensors() const {
    return windows_.empty() ? InputTensors(values_) : InputTensors(readers_);
  }
  // With the shape of the part.
  const Tensors& values() const { return values_; }

 private:
  class Window;
  Tensors values_;
  std::vector<std::unique_ptr<const Window>> windows_;  // none if the part is the whole case
  TensorReaders readers_;
};

// The golden of a part: the elements that Prove gives the whole case, in tensors with the shape of
// the part. The inputs are read as often as slices of the part share them.
std::vector<GoldenTensor> ProvePart(const Evaluation& evaluation, const Slice& part,
                                    const ProveOptions& options);

}  // namespace sextant
