#include "reference/rope_frequencies.h"

#include "reference/operation.h"
#include "reference/real.h"

namespace sextant {

void RopeFrequencies::Check() const {
  if (!(base > 0)) throw Error("base is ", base, ", expected more than 0");
  CheckScaling(scaling);
}

template <class Real>
void RopeFrequencies::operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
  const auto half = static_cast<int64_t>(inv_freq.shape[0]);
  for (int64_t k = 0; k < half; ++k) {
    const Real f = InversePower<Real>(base, 2 * k, 2 * half);
    const InStep at(Step::kFrequency);
    inv_freq(k) = std::visit([&](const auto& s) { return s(f, TwoPi<Real>()); }, scaling);
  }
  attention_factor() = Real(1.0);
}

template void RopeFrequencies::operator()(Tensor<Interval>&, Tensor<Interval>&) const;
template void RopeFrequencies::operator()(Tensor<Counted>&, Tensor<Counted>&) const;
template void RopeFrequencies::operator()(Tensor<Rounded>&, Tensor<Rounded>&) const;
template void RopeFrequencies::operator()(Tensor<Wide>&, Tensor<Wide>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<RopeFrequencies>() {
  return Wrap<RopeFrequencies>();
}

}  // namespace sextant
