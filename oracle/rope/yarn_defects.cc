#include "oracle/rope/yarn_defects.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/changed_scaling.h"

namespace sextant::oracle {
namespace {

// The first and the last pair of the ramp of YaRN, as real numbers.
struct Limits {
  double low, high;
};

// YaRN with limits that are truncated in another way: `change` maps the untruncated limits. The
// ramp runs over step * k. Applies only to cases with truncated limits.
Defect Ramped(std::string name, std::string why, Limits (*change)(Limits index, double R),
              double step = 1) {
  return ChangedFrequencies<YarnScaling>(
      std::move(name), std::move(why),
      [change, step](const YarnScaling& s, const RotarySetting& setting, double f, double k) {
        const auto index = [&](double beta) { return s.IndexOf<BoostReal>(beta, setting).High(); };
        const Limits limits =
            change({index(s.beta_fast), index(s.beta_slow)}, static_cast<double>(setting.R));
        const double low = std::max(limits.low, 0.0), width = limits.high - low;
        const double r = std::clamp((step * k - low) / (width > 0 ? width : 0.001), 0.0, 1.0);
        return f * (1 - r) + f / s.factor * r;
      },
      [](const YarnScaling& s) { return s.truncate && s.ramp == YarnRamp::kIndex; });
}

// Wrong blends of scaled and unscaled frequencies.
std::vector<Defect> YarnBlendDefects() {
  using Setting = RotarySetting;
  using Yarn = YarnScaling;
  return {
      ChangedScaling<Yarn>("yarn_without_blend",
                           "the frequencies are not scaled; only the amplitude is that of YaRN",
                           [](Yarn& s) {
                             s.original_max_position_embeddings = 0x1p-100;
                             s.ramp = YarnRamp::kIndex;
                             s.crossed = YarnCrossed::kReversed;
                             s.beta_fast = 32;
                           }),
      ChangedFrequencies<Yarn>(
          "yarn_divides_all", "every frequency is divided by the factor",
          [](const Yarn& s, const Setting&, double f, double) { return f / s.factor; }),
      ChangedFrequencies<Yarn>(
          "yarn_blend_reversed",
          "high frequencies are divided by the factor and low ones stay, instead of the reverse",
          [](const Yarn& s, const Setting& setting, double f, double k) {
            const auto right = FrequenciesOf(s, setting).of_pair;
            return f + f / s.factor - right[static_cast<size_t>(k)];
          }),
  };
}

// Wrong limits of the ramp.
std::vector<Defect> YarnRampDefects() {
  using Yarn = YarnScaling;
  return {
      Ramped("yarn_limits_inward",
             "the limits are rounded the wrong way: ceil of the lower one, floor of the upper one",
             [](Limits index, double R) {
               return Limits{std::ceil(index.low), std::min(std::floor(index.high), R - 1)};
             }),
      Ramped(
          "yarn_ramp_over_channels", "the ramp runs over channels 2k instead of pairs k",
          [](Limits index, double) {
            return Limits{std::floor(index.low), std::ceil(index.high)};
          },
          2),
      Ramped("yarn_clamped_to_pairs",
             "the upper limit is clamped to the last pair, R/2-1, instead of R-1",
             [](Limits index, double R) {
               return Limits{std::floor(index.low), std::min(std::ceil(index.high), R / 2 - 1)};
             }),
      ChangedScaling<Yarn>("yarn_truncate_flipped",
                           "limits are truncated although truncate is false, or the reverse "
                           "(vllm-project/vllm#27722)",
                           [](Yarn& s) { s.truncate = !s.truncate; }),
      ChangedScaling<Yarn>(
          "yarn_other_ramp",
          "the ramp of the paper is used instead of that of the frameworks, or the reverse",
          [](Yarn& s) {
            s.ramp = s.ramp == YarnRamp::kIndex ? YarnRamp::kRotations : YarnRamp::kIndex;
          }),
      ChangedScaling<Yarn>(
          "yarn_crossed_limits",
          "limits that do not rise give a step instead of a reversed ramp, or the reverse "
          "(ggml and Hugging Face differ)",
          [](Yarn& s) {
            s.crossed =
                s.crossed == YarnCrossed::kStep ? YarnCrossed::kReversed : YarnCrossed::kStep;
          }),
  };
}

// Wrong parameters of the ramp: betas, original context, factor.
std::vector<Defect> YarnParameterDefects() {
  using Yarn = YarnScaling;
  return {
      ChangedScaling<Yarn>("yarn_betas_swapped", "beta_fast and beta_slow are swapped",
                           [](Yarn& s) { std::swap(s.beta_fast, s.beta_slow); }),
      ChangedScaling<Yarn>("yarn_default_betas", "beta_fast and beta_slow are always 32 and 1",
                           [](Yarn& s) { s.beta_fast = 32, s.beta_slow = 1; }),
      ChangedScaling<Yarn>("yarn_by_extended_context",
                           "the extended context is used as the original one",
                           [](Yarn& s) { s.original_max_position_embeddings *= s.factor; }),
      ChangedScaling<Yarn>("yarn_without_two_pi", "L / beta is used instead of L / (2 pi beta)",
                           [](Yarn& s) { s.original_max_position_embeddings *= 2 * M_PI; }),
      ChangedScaling<Yarn>("yarn_factor_inverted",
                           "frequencies are multiplied by the factor instead of divided",
                           [](Yarn& s) { s.factor = 1 / s.factor; }),
  };
}

// Wrong factors of cos and sin.
std::vector<Defect> YarnAmplitudeDefects() {
  using Yarn = YarnScaling;
  return {
      ChangedAmplitude<Yarn>("yarn_amplitude_missing",
                             "cos and sin are not multiplied by the attention factor "
                             "(ml-explore/mlx-lm#1507)",
                             [](const Yarn&, double) { return 1; }),
      ChangedAmplitude<Yarn>(
          "yarn_amplitude_twice",
          "the attention factor multiplies cos and sin, and then the rotated tensor "
          "again (sgl-project/sglang#33558)",
          [](const Yarn&, double a) { return a * a; }),
      ChangedAmplitude<Yarn>("yarn_amplitude_inverted",
                             "the amplitude is inverted, as in the first preprint of the paper "
                             "(jquesnelle/yarn@c2474e3)",
                             [](const Yarn&, double a) { return 1 / a; }),
      ChangedAmplitude<Yarn>("yarn_amplitude_root",
                             "the amplitude is the square root of the attention factor",
                             [](const Yarn&, double a) { return std::sqrt(a); }),
      ChangedAmplitude<Yarn>("yarn_attention_factor_multiplies",
                             "a given attention factor multiplies the default one (older vLLM)",
                             [](const Yarn& s, double a) {
                               return s.attention_factor ? a * YarnMagnitude(s.factor) : a;
                             }),
      ChangedScaling<Yarn>("yarn_attention_factor_ignored", "a given attention factor is not read",
                           [](Yarn& s) { s.attention_factor.reset(); }),
      ChangedScaling<Yarn>(
          "yarn_mscale_ignored",
          "the ratio of mscale and mscale_all_dim is ignored (sgl-project/sglang#22711)",
          [](Yarn& s) { s.mscale = s.mscale_all_dim = std::nullopt; }),
      ChangedAmplitude<Yarn>("yarn_mscale_without_ratio",
                             "the amplitude of mscale is not divided by that of mscale_all_dim",
                             [](const Yarn& s, double a) {
                               const bool ratio = s.mscale.value_or(0) != 0 &&
                                                  s.mscale_all_dim.value_or(0) != 0 &&
                                                  !s.attention_factor;
                               return ratio ? 1 + 0.1 * *s.mscale * std::log(s.factor) : a;
                             }),
  };
}

}  // namespace

std::vector<Defect> YarnDefects() {
  return Joined<Defect>(
      {YarnBlendDefects(), YarnRampDefects(), YarnParameterDefects(), YarnAmplitudeDefects()});
}

}  // namespace sextant::oracle
