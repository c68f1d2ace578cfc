#include "reference/rope/rope_turned.h"

namespace sextant {

template <class Real>
Turning<Real>::Turning(const RopeAttributes& rope, const Tensor<double>& position)
    : rotation_(rope.Rotation()),
      cos_({position.shape[0], position.shape[1], static_cast<size_t>(rope.R.value / 2)}),
      sin_(cos_.shape) {
  Tensor<Real> inv_freq({cos_.shape[2]}), amplitude;
  rope.Frequencies()(inv_freq, amplitude);
  RopeTable::Fill(position, inv_freq, amplitude(), cos_, sin_);
}

template <class Real>
Tensor<Real> Turning<Real>::operator()(const Tensor<Real>& x) const {
  Tensor<Real> turned(x.shape);
  rotation_(x, cos_, sin_, turned);
  return turned;
}

template class Turning<Interval>;
template class Turning<Counted>;
template class Turning<Rounded>;
template class Turning<Wide>;

}  // namespace sextant
