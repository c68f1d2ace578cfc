// The rotation of tensors inside composite operations, for every number type.
#pragma once

#include "reference/number/tensor/tensor.h"
#include "reference/prove/block_parts.h"
#include "reference/rope/rope_attributes.h"
#include "reference/rope/rope_table.h"

namespace sextant {

// The rotation by `position` [B,S] under one configuration. The cos and sin tables are computed
// once and used for every tensor.
template <class Real>
class PairRotation {
 public:
  PairRotation(const RopeAttributes& rope, const Tensor<double>& position);
  Tensor<Real> operator()(const Tensor<Real>& x) const;           // x [B,H,S,D]
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const;  // y has the shape of x

 private:
  RopeRotate rotation_;
  Tensor<Real> cos_, sin_;  // [B,S,R/2]
};

// x rotated by its positions and stored.
template <class Real>
Tensor<Real> Rotated(const RopeAttributes& rope, const Tensor<Real>& x,
                     const Tensor<double>& position) {
  return Stored(PairRotation<Real>(rope, position)(x));
}

}  // namespace sextant
