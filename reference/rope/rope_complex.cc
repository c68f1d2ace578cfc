#include "reference/rope/rope_complex.h"

#include "reference/case/operation.h"

namespace sextant {
namespace {

// A complex number, for every number type.
template <class Real>
struct Complex {
  Real re, im;
};
template <class Real>
Complex<Real> operator*(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// amplitude e^(i position frequency), or its conjugate, as stored in a table.
template <class Real>
Complex<Real> Rotor(AngleTable<Real>& angles, double position, const Real& amplitude,
                    bool conjugate) {
  const auto [cosine, sine] = TableEntry(angles(position), amplitude);
  return {cosine, conjugate ? -sine : sine};
}

}  // namespace

template <class Real>
void RopeComplex::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                             Tensor<Real>& y) const {
  const size_t half = static_cast<size_t>(R.value / 2), start = static_cast<size_t>(offset);
  Tensor<Real> inv_freq({half}), factor;
  Frequencies()(inv_freq, factor);
  y.data = x.data;
  for (size_t k = 0; k < half; ++k) {
    AngleTable<Real> angles(inv_freq(k));
    const size_t re = start + 2 * k, im = re + 1;
    for (size_t b = 0; b < x.shape[0]; ++b) {
      for (size_t s = 0; s < x.shape[2]; ++s) {
        const Complex<Real> rotor =
            Rotor(angles, position(b, s), factor(), direction == Direction::kTranspose);
        const ScopedStep at(Step::kRotate);
        for (size_t h = 0; h < x.shape[1]; ++h) {
          const Complex<Real> rotated = Complex<Real>{x(b, h, s, re), x(b, h, s, im)} * rotor;
          y(b, h, s, re) = rotated.re;
          y(b, h, s, im) = rotated.im;
        }
      }
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeComplex>() {
  return Wrap<RopeComplex>();
}

}  // namespace sextant
