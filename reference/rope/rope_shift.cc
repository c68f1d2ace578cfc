#include "reference/rope/rope_shift.h"

#include "reference/case/operation.h"
#include "reference/rope/rope_table.h"

namespace sextant {
namespace {

// The only row of each sequence, repeated for its `count` keys.
template <class Real>
Tensor<Real> Repeated(const Tensor<Real>& table, size_t count) {
  Tensor<Real> repeated({table.shape[0], count, table.shape[2]});
  for (size_t b = 0; b < table.shape[0]; ++b) {
    for (size_t t = 0; t < count; ++t) {
      for (size_t k = 0; k < table.shape[2]; ++k) repeated(b, t, k) = table(b, 0, k);
    }
  }
  return repeated;
}

}  // namespace

template <class Real>
void RopeShift::operator()(const Tensor<Real>& k, const Tensor<double>& delta,
                           Tensor<Real>& y) const {
  const auto half = static_cast<size_t>(R.value / 2);
  const size_t batch = k.shape[0], keys = k.shape[2];
  Tensor<Real> inv_freq({half}), unused_amplitude;  // cached keys contain the amplitude already
  Frequencies()(inv_freq, unused_amplitude);
  Tensor<Real> cos({batch, 1, half}), sin({batch, 1, half});
  RopeTable::Fill({{batch, 1}, delta.data}, inv_freq, Real(1.0), cos, sin);
  Rotation()(k, Repeated(cos, keys), Repeated(sin, keys), y);
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeShift>() {
  return Wrap<RopeShift>();
}

}  // namespace sextant
