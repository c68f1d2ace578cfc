#include "oracle/rope/scaling_defects.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/changed_scaling.h"
#include "oracle/rope/longrope_defects.h"
#include "oracle/rope/yarn_defects.h"

namespace sextant::oracle {
namespace {

// The ratio of the ends of a ramp that acts as a step: too narrow to contain a frequency, yet its
// ends differ in f32.
constexpr double kStep = 1 + 0x1p-10;

std::string Words(double base, const RopeScaling& scaling) {
  return "base=" + PrintValue(base) + " scaling=" + PrintValue(scaling);
}

std::vector<Defect> LinearDefects() {
  return {
      ChangedScaling<LinearScaling>("linear_scaling_twice",
                                    "positions and frequencies are both divided by the factor "
                                    "(ggml-org/llama.cpp@3429c39f)",
                                    [](LinearScaling& s) { s.factor *= s.factor; }),
      ChangedScaling<LinearScaling>("linear_scaling_inverted",
                                    "frequencies are multiplied by the factor instead of divided",
                                    [](LinearScaling& s) { s.factor = 1 / s.factor; }),
  };
}

std::vector<Defect> Llama3Defects() {
  return {
      // Frequencies below the upper border are divided by the factor, those above it are not.
      ChangedScaling<Llama3Scaling>("llama3_borders_swapped",
                                    "low_freq_factor and high_freq_factor are swapped",
                                    [](Llama3Scaling& s) {
                                      s.low_freq_factor = s.high_freq_factor;
                                      s.high_freq_factor = s.low_freq_factor * kStep;
                                    }),
      ChangedScaling<Llama3Scaling>(
          "llama3_without_ramp", "a step replaces the ramp between the bands",
          [](Llama3Scaling& s) { s.high_freq_factor = s.low_freq_factor * kStep; }),
      ChangedScaling<Llama3Scaling>(
          "llama3_by_extended_context", "the extended context is used as the original one",
          [](Llama3Scaling& s) { s.original_max_position_embeddings *= s.factor; }),
      ChangedScaling<Llama3Scaling>(
          "llama3_without_two_pi", "the wavelength is 1 / f instead of 2 pi / f",
          [](Llama3Scaling& s) { s.original_max_position_embeddings *= 2 * M_PI; }),
      ChangedScaling<Llama3Scaling>(
          "llama3_scales_all", "every frequency is divided by the factor",
          [](Llama3Scaling& s) { s.original_max_position_embeddings = 0x1p-100; }),
  };
}

double MixedDown(const NtkMixedScaling& s, double f, double part) {
  return f / std::pow(s.factor, std::pow(part, s.mixed_b));
}

std::vector<Defect> BaseDefects() {
  using Setting = RotarySetting;
  return {
      ChangedWords<NtkScaling>("ntk_without_exponent",
                               "the base is multiplied by the factor instead of factor^(R/(R-2))",
                               [](const NtkScaling& s, const Setting& setting) {
                                 return Words(setting.base * s.factor, NoScaling{});
                               }),
      ChangedWords<NtkScaling>(
          "ntk_divides",
          "the factor divides positions or frequencies instead of increasing the "
          "base (ml-explore/mlx-lm@13425df6)",
          [](const NtkScaling& s, const Setting& setting) {
            return Words(setting.base, LinearScaling{s.factor});
          }),
      ChangedFrequencies<NtkMixedScaling>(
          "ntk_mixed_counts_from_zero",
          "the exponent is (k / (R/2))^mixed_b: the first frequency stays, and the last one is not "
          "divided by the factor",
          [](const NtkMixedScaling& s, const Setting& setting, double f, double k) {
            return MixedDown(s, f, 2 * k / static_cast<double>(setting.R));
          }),
      ChangedFrequencies<NtkMixedScaling>(
          "ntk_mixed_over_channels",
          "the exponent is ((k+1) / R)^mixed_b: the width is used as the number of pairs",
          [](const NtkMixedScaling& s, const Setting& setting, double f, double k) {
            return MixedDown(s, f, (k + 1) / static_cast<double>(setting.R));
          }),
      ChangedWords<NtkMixedScaling>(
          "ntk_mixed_as_ntk",
          "the base is multiplied by factor^(R/(R-2)), as the scaling `ntk` does",
          [](const NtkMixedScaling& s, const Setting& setting) -> std::string {
            if (setting.R == 2) return "";
            return Words(setting.base, NtkScaling{s.factor});
          }),
  };
}

// The base does not grow with the length.
std::vector<Defect> DynamicLengthDefects() {
  using Setting = RotarySetting;
  return {
      ChangedWords<DynamicScaling>(
          "dynamic_ignores_length", "the base never grows: the sequence length is ignored",
          [](const DynamicScaling&, const Setting&) { return "seq_len="; }),
      ChangedWords<DynamicScaling>(
          "dynamic_of_extended_context",
          "one table serves the whole extended context, factor times the trained length (vLLM)",
          [](const DynamicScaling& s, const Setting&) {
            return "seq_len=" + PrintValue(std::floor(s.factor * s.max_position_embeddings));
          }),
      ChangedWords<DynamicScaling>("dynamic_as_static",
                                   "the base grows by the fixed factor at every length",
                                   [](const DynamicScaling& s, const Setting& setting) {
                                     return Words(setting.base, NtkScaling{s.factor});
                                   }),
  };
}

// The base grows with the length in a wrong way.
std::vector<Defect> DynamicGrowthDefects() {
  using Setting = RotarySetting;
  return {
      ChangedWords<DynamicScaling>(
          "dynamic_growth_without_one",
          "the growth is factor n / L, without subtracting factor - 1",
          [](const DynamicScaling& s, const Setting& setting) {
            const double n = std::max(s.max_position_embeddings,
                                      static_cast<double>(setting.seq_len.value_or(0)));
            return Words(setting.base, NtkScaling{s.factor * n / s.max_position_embeddings});
          }),
      ChangedWords<DynamicScaling>(
          "dynamic_compounds",
          "a base that has already grown grows again (huggingface/transformers#27227)",
          [](const DynamicScaling& s, const Setting& setting) {
            const double power = static_cast<double>(setting.R) /
                                 static_cast<double>(std::max<int64_t>(setting.R - 2, 1));
            const double growth = s.Growth<BoostReal>(setting).High();
            return Words(setting.base * std::pow(growth, power), s);
          }),
      ChangedWords<DynamicScaling>(
          "dynamic_shrinks",
          "seq_len is used instead of max(seq_len, max_position_embeddings): "
          "a short sequence shrinks the base",
          [](const DynamicScaling& s, const Setting& setting) -> std::string {
            const auto n = static_cast<double>(setting.seq_len.value_or(0));
            if (n == 0 || n >= s.max_position_embeddings) return "";
            const BoostReal L(s.max_position_embeddings), factor(s.factor);
            const double growth = (factor * BoostReal(n) / L - (factor - BoostReal(1.0))).High();
            return growth > 0 ? Words(setting.base, NtkScaling{growth}) : "";
          }),
      ChangedWords<DynamicScaling>(
          "dynamic_length_off_by_one", "the sequence length does not count the last token",
          [](const DynamicScaling&, const Setting& setting) -> std::string {
            if (setting.seq_len.value_or(0) == 0) return "";
            return "seq_len=" + PrintValue(*setting.seq_len - 1);
          }),
  };
}

}  // namespace

std::vector<Defect> DynamicDefects() {
  return Joined<Defect>({DynamicLengthDefects(), DynamicGrowthDefects()});
}

namespace {

std::vector<Defect> ProportionalDefects() {
  using Setting = RotarySetting;
  return {
      ChangedFrequencies<ProportionalScaling>(
          "proportional_as_partial",
          "exponents are divided by the number of rotated channels instead of the whole width",
          [](const ProportionalScaling& s, const Setting& setting, double f, double k) {
            const double rotated_pairs =
                std::floor(s.partial_rotary_factor * static_cast<double>(setting.R) / 2);
            return k < rotated_pairs ? std::pow(setting.base, -k / rotated_pairs) / s.factor
                                     : 0 * f;
          }),
      ChangedFrequencies<ProportionalScaling>(
          "proportional_counts_channels",
          "twice as many pairs rotate: the number of channels is used as the number of pairs",
          [](const ProportionalScaling& s, const Setting& setting, double f, double k) {
            const double R = static_cast<double>(setting.R);
            return k < std::floor(s.partial_rotary_factor * R) ? f / s.factor : 0;
          }),
      ChangedScaling<ProportionalScaling>(
          "proportional_rotates_all", "every pair rotates: no frequency is 0",
          [](ProportionalScaling& s) { s.partial_rotary_factor = 1; }),
      ChangedScaling<ProportionalScaling>("proportional_factor_ignored", "the factor is not read",
                                          [](ProportionalScaling& s) { s.factor = 1; }),
  };
}

std::vector<Defect> ExplicitDefects() {
  return {
      ChangedScaling<ExplicitScaling>("explicit_periods",
                                      "the given frequencies are used as periods",
                                      [](ExplicitScaling& s) {
                                        for (double& f : s.inv_freq) f = f == 0 ? 0 : 1 / f;
                                      }),
      ChangedScaling<ExplicitScaling>("explicit_amplitude_missing",
                                      "cos and sin are not multiplied by the attention factor",
                                      [](ExplicitScaling& s) { s.attention_factor = 1; }),
  };
}

}  // namespace

std::vector<Defect> ScalingDefects() { return Joined<Defect>({LinearDefects(), Llama3Defects()}); }

std::vector<Defect> ExtensionDefects() {
  return Joined<Defect>({BaseDefects(), DynamicDefects(), YarnDefects(), LongRopeDefects(),
                         ProportionalDefects(), ExplicitDefects()});
}

}  // namespace sextant::oracle
