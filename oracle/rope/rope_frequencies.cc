#include "reference/rope/rope_frequencies.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/scaling_defects.h"
#include "oracle/rope/scaling_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

Comparisons CheckFirst(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const Response f = ask(c.With("scaling=none"), inputs);
  if (ExtentOf(c, "R") > 0) comparisons.Equal(f(kFrequency, 0), 1, {f, kFrequency, 0});
  return comparisons;
}

// False for scalings whose frequencies may rise: lists, and YaRN where the limits of its ramp do
// not rise.
bool KeepsOrder(const RopeScaling& s) {
  return !std::holds_alternative<LongRopeScaling>(s) &&
         !std::holds_alternative<ExplicitScaling>(s) && !std::holds_alternative<YarnScaling>(s);
}

Comparisons CheckFalling(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const Configuration given(c);
  if (given.setting.base < 1 || !KeepsOrder(given.scaling)) return comparisons;
  const Response f = ask(c, inputs);
  for (size_t k = 1; k < ExtentOf(c, "R") / 2; ++k) {
    comparisons.AtMost(f(kFrequency, k), f(kFrequency, k - 1), {f, kFrequency, k});
  }
  return comparisons;
}

// True if all frequencies have the same divisor, or only the base changes.
bool StaysGeometric(const RopeScaling& s) {
  return std::holds_alternative<NoScaling>(s) || std::holds_alternative<LinearScaling>(s) ||
         std::holds_alternative<NtkScaling>(s) || std::holds_alternative<DynamicScaling>(s);
}

// f_k^2 = f_(k-1) f_(k+1)
Comparisons CheckGeometric(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (!StaysGeometric(Configuration(c).scaling)) return comparisons;
  const Response f = ask(c, inputs);
  for (size_t k = 1; k + 1 < ExtentOf(c, "R") / 2; ++k) {
    comparisons.Equal(f(kFrequency, k) * f(kFrequency, k),
                      f(kFrequency, k - 1) * f(kFrequency, k + 1), {f, kFrequency, k});
  }
  return comparisons;
}

// The middle frequency is base^(-1/2): base f_(R/4)^2 = 1
Comparisons CheckMiddle(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const size_t R = ExtentOf(c, "R");
  if (R % 4 != 0 || R == 0) return comparisons;
  const Response f = ask(c.With("scaling=none"), inputs);
  const Measured middle = f(kFrequency, R / 4);
  comparisons.Equal(middle * middle * NumberOf(c, "base", 0), 1, {f, kFrequency, R / 4});
  return comparisons;
}

Comparisons CheckRopeFrequenciesSquaredBase(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const double base = NumberOf(c, "base", 0);
  if (std::fma(base, base, -(base * base)) != 0) return comparisons;  // the square is not a double
  if (!DependsOnFrequencyAlone(Configuration(c).scaling)) return comparisons;
  const Response f = ask(c, inputs),
                 squared = ask(c.With("base=" + PrintValue(base * base)), inputs);
  for (size_t k = 0; 2 * k < ExtentOf(c, "R") / 2; ++k) {
    comparisons.Equal(squared(kFrequency, k), f(kFrequency, 2 * k), {squared, kFrequency, k});
  }
  return comparisons;
}

// YaRN's amplitude, 1 + ln(factor) / 10, for scalings with a factor but without an amplitude.
struct MutatedRopeFrequencies : RopeFrequencies {
  enum class Mutation { kNone, kAmplitudeOfYarn } mutation{};
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
    RopeFrequencies::operator()(inv_freq, attention_factor);
    if (mutation == Mutation::kNone) return;
    const ScopedStep at(Step::kFrequency);
    std::visit(
        [&](const auto& s) {
          if constexpr (
              requires { s.factor; } && !requires { s.template Amplitude<Real>(Setting()); }) {
            attention_factor() = Real(1.0) + Log(Real(s.factor)) / Real(10.0);
          }
        },
        scaling);
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeFrequencies>() {
  return {
      .properties = Joined<Property>(
          {{{"first_is_one", "without scaling the first frequency is 1", CheckFirst},
            {"falling", "no frequency is larger than the one before it", CheckFalling},
            {"geometric",
             "if all frequencies have the same divisor, the ratio of neighbours is constant",
             CheckGeometric},
            {"middle_is_root_of_base", "the middle frequency is the square root of 1 / base",
             CheckMiddle},
            {"squared_base_skips_pairs", "frequency k with base b^2 is frequency 2k with base b",
             CheckRopeFrequenciesSquaredBase}},
           ScalingProperties()}),
      .defects = Joined<Defect>(
          {FrequencyDefects<RopeFrequencies>(), ScalingDefects(), ExtensionDefects(),
           PrecisionDefects(RopeFrequencies::kSteps),
           MutatedFormulas<MutatedRopeFrequencies>(
               {{"amplitude_of_yarn", "a scaling without an amplitude has the amplitude of YaRN",
                 MutatedRopeFrequencies::Mutation::kAmplitudeOfYarn}})}),
      .measurements = RotationMeasurements<RopeFrequencies>()};
}

}  // namespace sextant::oracle
