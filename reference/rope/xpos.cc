#include "reference/rope/xpos.h"

#include <tuple>

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// z_k = (2k/R + gamma) / (1 + gamma)
template <class Real>
Real DecayOf(const Xpos& op, size_t k) {
  const ScopedStep at(Step::kFactor);
  const Real channel = Real(static_cast<double>(2 * k)) / Real(static_cast<double>(op.R.value));
  return (channel + Real(op.gamma)) / (Real(1.0) + Real(op.gamma));
}

// z^t, t = (position - center) / scale_base; for keys the reciprocal 1 / z^t, as in
// implementations.
template <class Real>
Real FactorAt(const Xpos& op, const Real& decay, double position) {
  const ScopedStep at(Step::kFactor);
  const Real distance =
      Real(position, DType::kI64) - Real(static_cast<double>(op.center), DType::kI64);
  const Real power = Power(decay, distance / Real(op.scale_base));
  return op.role == XposRole::kQuery ? power : Real(1.0) / power;
}

}  // namespace

void Xpos::Check() const {
  Rotary().Check();
  if (!(scale_base > 0)) throw Error("scale_base is ", scale_base, ", expected more than 0");
  if (!(gamma > 0)) throw Error("gamma is ", gamma, ", expected more than 0");
  if (center < -kLargestInteger || center > kLargestInteger) {
    throw Error("center is ", center, ", expected ", -kLargestInteger, " to ", kLargestInteger);
  }
}

template <class Real>
void Xpos::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                      Tensor<Real>& y) const {
  const auto half = static_cast<size_t>(R.value / 2);
  Tensor<Real> inv_freq({half}), factor;
  Rotary().Frequencies()(inv_freq, factor);
  const Shape table = {position.shape[0], position.shape[1], half};
  Tensor<Real> cos(table), sin(table);
  for (size_t k = 0; k < half; ++k) {
    AngleTable<Real> angles(inv_freq(k));
    const Real decay = DecayOf<Real>(*this, k);
    for (size_t b = 0; b < position.shape[0]; ++b) {
      for (size_t s = 0; s < position.shape[1]; ++s) {
        const double p = position(b, s);
        std::tie(cos(b, s, k), sin(b, s, k)) = TableEntry(angles(p), FactorAt(*this, decay, p));
      }
    }
  }
  Rotary().Rotation()(x, cos, sin, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<Xpos>() {
  return Wrap<Xpos>();
}

}  // namespace sextant
