#include "reference/rope_frequencies.h"

#include <cmath>

#include "oracle/angle_defects.h"
#include "oracle/laws.h"
#include "oracle/oracle.h"
#include "oracle/rotary_defects.h"
#include "reference/real.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFrequency = 0, kAmplitude = 1;

Findings CheckFirst(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  const Response f = ask(c.With("scaling=none"), inputs);
  if (ExtentOf(c, "R") > 0) findings.Equal(f(kFrequency, 0), 1, {f, kFrequency, 0});
  return findings;
}

Findings CheckFalling(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  if (NumberOf(c, "base", 0) < 1) return findings;
  const Response f = ask(c, inputs);
  for (size_t k = 1; k < ExtentOf(c, "R") / 2; ++k) {
    findings.AtMost(f(kFrequency, k), f(kFrequency, k - 1), {f, kFrequency, k});
  }
  return findings;
}

// f_k^2 = f_(k-1) f_(k+1)
Findings CheckGeometric(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  if (TextOf(c, "scaling").starts_with("llama3")) return findings;
  const Response f = ask(c, inputs);
  for (size_t k = 1; k + 1 < ExtentOf(c, "R") / 2; ++k) {
    findings.Equal(f(kFrequency, k) * f(kFrequency, k), f(kFrequency, k - 1) * f(kFrequency, k + 1),
                   {f, kFrequency, k});
  }
  return findings;
}

// Half way to 1 / base: base f_(R/4)^2 = 1
Findings CheckMiddle(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  const size_t R = ExtentOf(c, "R");
  if (R % 4 != 0 || R == 0) return findings;
  const Response f = ask(c.With("scaling=none"), inputs);
  const Measured middle = f(kFrequency, R / 4);
  findings.Equal(middle * middle * NumberOf(c, "base", 0), 1, {f, kFrequency, R / 4});
  return findings;
}

Findings CheckSquaredBase(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  const double base = NumberOf(c, "base", 0);
  if (std::fma(base, base, -(base * base)) != 0) return findings;  // its square is no double
  const Response f = ask(c, inputs),
                 squared = ask(c.With("base=" + PrintValue(base * base)), inputs);
  for (size_t k = 0; 2 * k < ExtentOf(c, "R") / 2; ++k) {
    findings.Equal(squared(kFrequency, k), f(kFrequency, 2 * k), {squared, kFrequency, k});
  }
  return findings;
}

Findings CheckLinear(const Case& c, const Tensors& inputs, const Ask& ask) {
  RopeScaling scaling;
  ParseValue(TextOf(c, "scaling"), scaling);
  if (!std::holds_alternative<LinearScaling>(scaling)) scaling = LinearScaling{2.5};
  const Response f = ask(c.With("scaling=none"), inputs);
  const Response scaled = ask(c.With("scaling=" + PrintValue(scaling)), inputs);
  Findings findings;
  for (size_t k = 0; k < ExtentOf(c, "R") / 2; ++k) {
    findings.Equal(scaled(kFrequency, k) * std::get<LinearScaling>(scaling).factor,
                   f(kFrequency, k), {scaled, kFrequency, k});
  }
  return findings;
}

// With t = L f / 2 pi turns in the original context: f / factor below low, f above high, between
// them anywhere.
Findings CheckBands(const Case& c, const Tensors& inputs, const Ask& ask) {
  RopeScaling scaling;
  ParseValue(TextOf(c, "scaling"), scaling);
  if (!std::holds_alternative<Llama3Scaling>(scaling)) scaling = Llama3Scaling{};
  const auto& s = std::get<Llama3Scaling>(scaling);
  const Response f = ask(c.With("scaling=none"), inputs);
  const Response scaled = ask(c.With("scaling=" + PrintValue(scaling)), inputs);
  const Measured two_pi(2 * M_PI, 0x1p-51);
  const auto below = [](const Measured& a, const Measured& b) {
    const Measured difference = a - b;
    return difference.value() + difference.error() < 0;
  };
  Findings findings;
  for (size_t k = 0; k < ExtentOf(c, "R") / 2; ++k) {
    const Measured length = f(kFrequency, k) * s.original_max_position_embeddings;
    const Measured times = scaled(kFrequency, k) * s.factor;
    findings.AtMost(f(kFrequency, k), times, {scaled, kFrequency, k});
    findings.AtMost(scaled(kFrequency, k), f(kFrequency, k), {scaled, kFrequency, k});
    if (below(length, two_pi * s.low_freq_factor)) {
      findings.Equal(times, f(kFrequency, k), {scaled, kFrequency, k});
    } else if (below(two_pi * s.high_freq_factor, length)) {
      findings.Equal(scaled(kFrequency, k), f(kFrequency, k), {scaled, kFrequency, k});
    }
  }
  return findings;
}

Findings CheckAmplitude(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response f = ask(c, inputs);
  Findings findings;
  findings.Equal(f(kAmplitude, 0), 1, {f, kAmplitude, 0});
  return findings;
}

// YaRN's amplitude, 1 + ln(factor) / 10, where no amplitude is due.
struct AmplitudeOfYarn : RopeFrequencies {
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
    RopeFrequencies::operator()(inv_freq, attention_factor);
    const InStep at(Step::kFrequency);
    std::visit(
        [&](const auto& s) {
          if constexpr (requires { s.factor; }) {
            attention_factor() = Real(1.0) + Log(Real(s.factor)) / Real(10.0);
          }
        },
        scaling);
  }
};

}  // namespace

template <>
Oracle MakeOracle<RopeFrequencies>() {
  return {.properties = {{"first_is_one", "without scaling the first frequency is 1", CheckFirst},
                         {"falling", "frequencies never rise", CheckFalling},
                         {"geometric", "unless bands differ, the ratio of neighbours is constant",
                          CheckGeometric},
                         {"middle_is_root_of_base",
                          "the frequency half way to 1 / base is its square root", CheckMiddle},
                         {"squared_base_skips_pairs", "pair k of base b^2 is pair 2k of base b",
                          CheckSquaredBase},
                         {"linear_divides", "linear scaling divides by its factor", CheckLinear},
                         {"llama3_bands",
                          "llama3 divides low frequencies by its factor, keeps high ones, and "
                          "leaves no others outside",
                          CheckBands},
                         {"amplitude_is_one", "these scalings leave the amplitude alone",
                          CheckAmplitude}},
          .defects = Joined<Defect>(
              {FrequencyDefects<RopeFrequencies>(),
               ScalingDefects(),
               PrecisionDefects(RopeFrequencies::kSteps),
               {MutatedFormula<AmplitudeOfYarn>(
                   "amplitude_of_yarn", "the amplitude of YaRN where the scaling has none")}})};
}

}  // namespace sextant::oracle
