#include "reference/rope/rope_frequencies.h"

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {

void RopeFrequencies::Check() const { CheckScaling(scaling, Setting()); }

template <class Real>
void RopeFrequencies::operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
  const ScopedStep at(Step::kFrequency);
  const GrownBase<Real> grown_base{base, GrowthOf<Real>(scaling, Setting()), R.value};
  const ScalingFormula<Real> scaled = FormulaOf<Real>(scaling, Setting());
  for (int64_t k = 0; k < R.value / 2; ++k) {
    inv_freq(k) = scaled(InversePower(grown_base, 2 * k, R.value), k);
  }
  attention_factor() = AmplitudeOf<Real>(scaling, Setting());
}

template void RopeFrequencies::operator()(Tensor<Interval>&, Tensor<Interval>&) const;
template void RopeFrequencies::operator()(Tensor<Counted>&, Tensor<Counted>&) const;
template void RopeFrequencies::operator()(Tensor<Rounded>&, Tensor<Rounded>&) const;
template void RopeFrequencies::operator()(Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<RopeFrequencies>() {
  return Wrap<RopeFrequencies>();
}

}  // namespace sextant
