#include "reference/rope/rope_axial.h"

#include <tuple>

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

template <class Real>
Real FrequencyOf(const RopeAxial& op, const RopeAxial::FrequencyIndex& index) {
  const auto [i, n] = index;
  if (op.frequencies == AxialFrequencies::kLang) return InversePower<Real>(op.base, 2 * i, 2 * n);
  if (op.frequencies == AxialFrequencies::kConstant) return Real(1.0);
  const ScopedStep at(Step::kFrequency);
  const Real pi = TwoPi<Real>() / Real(2.0), one(1.0);
  if (n == 1) return one * pi;
  const Real fraction = Real(static_cast<double>(i)) / Real(static_cast<double>(n - 1));
  return (one + (Real(op.max_freq) / Real(2.0) - one) * fraction) * pi;
}

}  // namespace

void RopeAxial::Check() const {
  RopeAttributes{.base = base, .scaling = {}, .offset = offset, .D = D, .R = R}.Check();
  if (A.value < 1) throw Error("dimension A is ", A.value, ", expected 1 or more");
  if (R.value % 2 != 0 || R.value / 2 % A.value != 0) {
    throw Error("dimension R is ", R.value, ", expected a multiple of 2 A: equal shares for ",
                A.value, " axes");
  }
  if (!(max_freq > 0)) throw Error("max_freq is ", max_freq, ", expected more than 0");
}

RopeAxial::FrequencyIndex RopeAxial::FrequencyIndexOf(size_t a, size_t j) const {
  const auto P = static_cast<int64_t>(PairsPerAxis()), pair = static_cast<int64_t>(j);
  if (arrangement != Arrangement::kAlternating) return {pair, P};
  return {A.value * pair + static_cast<int64_t>(a), A.value * P};
}

template <class Real>
void RopeAxial::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                           Tensor<Real>& y) const {
  const size_t P = PairsPerAxis(), batch = position.shape[0], length = position.shape[2];
  const size_t windows = Windows(), pairs = static_cast<size_t>(R.value / 2) / windows;
  RopeRotate rotate{.pairing = pairing, .offset = offset, .direction = direction};
  y.data = x.data;
  for (size_t w = 0; w < windows; ++w, rotate.offset += static_cast<int64_t>(2 * pairs)) {
    Tensor<Real> cos({batch, length, pairs}), sin({batch, length, pairs});
    for (size_t k = 0; k < pairs; ++k) {
      const size_t a = (w * pairs + k) / P, j = (w * pairs + k) % P;
      const Real frequency = FrequencyOf<Real>(*this, FrequencyIndexOf(a, j));
      for (size_t b = 0; b < batch; ++b) {
        for (size_t s = 0; s < length; ++s) {
          std::tie(cos(b, s, k), sin(b, s, k)) =
              TableEntry(CosSinAt(position(b, a, s), frequency), Real(1.0));
        }
      }
    }
    const Tensor<Real> partly_rotated = y;
    rotate(partly_rotated, cos, sin, y);
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeAxial>() {
  return Wrap<RopeAxial>();
}

}  // namespace sextant
