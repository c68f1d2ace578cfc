// Tensors that a composite operation turns by their positions.
#pragma once

#include "reference/recipe.h"
#include "reference/rope_attributes.h"
#include "reference/rope_table.h"
#include "reference/tensor.h"

namespace sextant {

// x turned by its positions and handed on: step keep.
template <class Real>
Tensor<Real> Turned(const RopeAttributes& rope, const Tensor<Real>& x,
                    const Tensor<double>& position) {
  const auto half = static_cast<size_t>(rope.R.value / 2);
  Tensor<Real> inv_freq({half}), amplitude, turned(x.shape);
  rope.Frequencies()(inv_freq, amplitude);
  const Shape table = {position.shape[0], position.shape[1], half};
  Tensor<Real> cos(table), sin(table);
  RopeTable::Fill(position, inv_freq, amplitude(), cos, sin);
  rope.Rotation()(x, cos, sin, turned);
  const InStep at(Step::kKeep);
  for (Real& y : turned.data) y = Converted(y);
  return turned;
}

}  // namespace sextant
