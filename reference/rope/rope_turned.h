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
class Turning {
 public:
  Turning(const RopeAttributes& rope, const Tensor<double>& position)
      : rotation_(rope.Rotation()),
        cos_({position.shape[0], position.shape[1], static_cast<size_t>(rope.R.value / 2)}),
        sin_(cos_.shape) {
    Tensor<Real> inv_freq({cos_.shape[2]}), amplitude;
    rope.Frequencies()(inv_freq, amplitude);
    RopeTable::Fill(position, inv_freq, amplitude(), cos_, sin_);
  }
  // x [B,H,S,D]
  Tensor<Real> operator()(const Tensor<Real>& x) const {
    Tensor<Real> turned(x.shape);
    rotation_(x, cos_, sin_, turned);
    return turned;
  }

 private:
  RopeRotate rotation_;
  Tensor<Real> cos_, sin_;  // [B,S,R/2]
};

// x turned by its positions, as handed on.
template <class Real>
Tensor<Real> Turned(const RopeAttributes& rope, const Tensor<Real>& x,
                    const Tensor<double>& position) {
  return Kept(Turning<Real>(rope, position)(x));
}

}  // namespace sextant
