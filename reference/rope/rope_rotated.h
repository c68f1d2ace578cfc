// Tensors that an operation turns by their positions, over any number type.
#pragma once

#include "reference/number/tensor.h"
#include "reference/prove/block_parts.h"
#include "reference/rope/rope_attributes.h"
#include "reference/rope/rope_table.h"

namespace sextant {

// The rotation of whatever stands at `position` [B,S], under one configuration: the tables are made
// once for many tensors.
template <class Real>
class PairRotation {
 public:
  PairRotation(const RopeAttributes& rope, const Tensor<double>& position);
  Tensor<Real> operator()(const Tensor<Real>& x) const;  // x [B,H,S,D]

 private:
  RopeRotate rotation_;
  Tensor<Real> cos_, sin_;  // [B,S,R/2]
};

// x turned by its positions, as handed on.
template <class Real>
Tensor<Real> Rotated(const RopeAttributes& rope, const Tensor<Real>& x,
                     const Tensor<double>& position) {
  return Stored(PairRotation<Real>(rope, position)(x));
}

}  // namespace sextant
