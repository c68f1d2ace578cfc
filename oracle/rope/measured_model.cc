#include "oracle/rope/measured_model.h"

#include <tuple>

#include "reference/number/counted.h"
#include "reference/number/real.h"
#include "reference/number/rounded.h"
#include "reference/rope/plain_rotation.h"

namespace sextant::oracle {
namespace {

template <class Real>
Real AmplitudeOf(const RotaryModel& model) {
  const ScopedStep at(Step::kFrequency);
  const Real one = sextant::AmplitudeOf<Real>(model.scaling, model.setting);
  Real amplitude(model.gain);
  for (int n = 0; n < model.amplitude_power; ++n) {
    amplitude = n == 0 && model.gain == 1 ? one : amplitude * one;
  }
  return amplitude;
}

// cos and sin of one pair at all positions, [B,S] each.
template <class Real>
struct PairTable {
  PairTable(const RotaryModel& model, size_t axis, const Real& frequency, const Real& amplitude,
            const Tensor<double>& position)
      : cos({position.shape[0], position.shape[2]}), sin(cos.shape) {
    AngleTable<Real> angles(frequency);
    const Real sine_amplitude = amplitude * Real(model.sine_gain);
    for (size_t b = 0; b < cos.shape[0]; ++b) {
      for (size_t s = 0; s < cos.shape[1]; ++s) {
        const double p = position(b, axis, s);
        const auto at = model.has_coordinates ? CosSinAt(p, frequency) : angles(p);
        std::tie(cos(b, s), sin(b, s)) = TableEntry(at, amplitude);
        if (model.sine_gain != 1) sin(b, s) = TableEntry(at, sine_amplitude).second;
        if (!model.forward) sin(b, s) = -sin(b, s);
      }
    }
  }
  Tensor<Real> cos, sin;
};

}  // namespace

template <class Real>
Tensor<Real> ModelFrequencies(const RotaryModel& model, const Tensor<Real>* given) {
  const ScopedStep at(Step::kFrequency);
  const GrownBase<Real> base{model.setting.base, GrowthOf<Real>(model.scaling, model.setting),
                             model.setting.R};
  const ScalingFormula<Real> scaled = FormulaOf<Real>(model.scaling, model.setting);
  Tensor<Real> frequency({model.pairs.size()});
  for (size_t i = 0; i < model.pairs.size(); ++i) {
    const auto& [k, n, scaled_as, factor, axis] = model.pairs[i];
    frequency(i) = given ? (*given)(static_cast<size_t>(scaled_as))
                         : scaled(InversePower(base, k, n), scaled_as);
    if (factor != 1) frequency(i) = frequency(i) * Real(factor);
  }
  return frequency;
}

template <class Real>
void Rotate(const RotaryModel& model, const Tensor<Real>& frequency, const Tensor<double>& position,
            const Tensor<Real>& x, Tensor<Real>& y) {
  y.data = x.data;
  const Real amplitude = AmplitudeOf<Real>(model);
  for (size_t k = 0; k < model.pairs.size(); ++k) {
    const PairTable<Real> table(model, model.pairs[k].axis, frequency(k), amplitude, position);
    const ScopedStep at(Step::kRotate);
    const auto [i, j] = model.read[k];
    const auto [to_i, to_j] = model.written[k];
    for (size_t b = 0; b < x.shape[0]; ++b) {
      for (size_t h = 0; h < x.shape[1]; ++h) {
        for (size_t s = 0; s < x.shape[2]; ++s) {
          std::tie(y(b, h, s, to_i), y(b, h, s, to_j)) =
              RotatedPair(x(b, h, s, i), x(b, h, s, j), {table.cos(b, s), table.sin(b, s)});
        }
      }
    }
  }
}

template Tensor<Counted> ModelFrequencies(const RotaryModel&, const Tensor<Counted>*);
template Tensor<Rounded> ModelFrequencies(const RotaryModel&, const Tensor<Rounded>*);
template void Rotate(const RotaryModel&, const Tensor<Counted>&, const Tensor<double>&,
                     const Tensor<Counted>&, Tensor<Counted>&);
template void Rotate(const RotaryModel&, const Tensor<Rounded>&, const Tensor<double>&,
                     const Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
