#include "reference/rope/rope_rotated.h"

namespace sextant {

template <class Real>
PairRotation<Real>::PairRotation(const RopeAttributes& rope, const Tensor<double>& position)
    : rotation_(rope.Rotation()),
      cos_({position.shape[0], position.shape[1], static_cast<size_t>(rope.R.value / 2)}),
      sin_(cos_.shape) {
  Tensor<Real> inv_freq({cos_.shape[2]}), amplitude;
  rope.Frequencies()(inv_freq, amplitude);
  RopeTable::Fill(position, inv_freq, amplitude(), cos_, sin_);
}

template <class Real>
Tensor<Real> PairRotation<Real>::operator()(const Tensor<Real>& x) const {
  Tensor<Real> rotated(x.shape);
  (*this)(x, rotated);
  return rotated;
}

template <class Real>
void PairRotation<Real>::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  rotation_(x, cos_, sin_, y);
}

template class PairRotation<Interval>;
template class PairRotation<Counted>;
template class PairRotation<Rounded>;
template class PairRotation<BoostReal>;

}  // namespace sextant
