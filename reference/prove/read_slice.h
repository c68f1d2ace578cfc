// Reads slices of large tensors.
#pragma once

#include "reference/number/tensor/stored_tensor.h"
#include "reference/prove/slices.h"

namespace sextant {

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

inline Tensors ReadInputs(const Case& c, const TensorReaders& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i)
    part.push_back(ReadSlice(inputs[i], c.info().signature.inputs[i], slice));
  return part;
}

}  // namespace sextant
