#include "oracle/rope/yarn_defects.h"

#include <algorithm>

#include "oracle/defect/catalog_entry.h"
#include "oracle/rope/changed_scaling.h"

namespace sextant::oracle {
namespace {

// Where the ramp of YaRN begins and ends, in pairs.
struct Limits {
  double low, high;
};

// YaRN with limits that were truncated in another way than its own, `change(index, R)` of what they
// are before it; the ramp goes over step k. Says nothing of limits that are not truncated.
Defect Ramped(std::string name, std::string why, Limits (*change)(Limits index, double R),
              double step = 1) {
  return Computed<YarnScaling>(
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

// How scaled and unscaled frequencies are blended.
std::vector<Defect> YarnBlendDefects() {
  using Setting = RotarySetting;
  using Yarn = YarnScaling;
  return {
      Scaled<Yarn>("yarn_without_blend", "the amplitude of YaRN with unscaled frequencies",
                   [](Yarn& s) {
                     s.original_max_position_embeddings = 0x1p-100;
                     s.ramp = YarnRamp::kIndex;
                     s.crossed = YarnCrossed::kReversed;
                     s.beta_fast = 32;
                   }),
      Computed<Yarn>("yarn_divides_all", "every frequency is divided by the factor",
                     [](const Yarn& s, const Setting&, double f, double) { return f / s.factor; }),
      Computed<Yarn>("yarn_blend_reversed", "high frequencies are divided, low ones stay",
                     [](const Yarn& s, const Setting& setting, double f, double k) {
                       const auto right = FrequenciesOf(s, setting).of_pair;
                       return f + f / s.factor - right[static_cast<size_t>(k)];
                     }),
  };
}

// Where the ramp between them begins and ends.
std::vector<Defect> YarnRampDefects() {
  using Yarn = YarnScaling;
  return {
      Ramped("yarn_limits_inward",
             "truncated the wrong way round: ceil of the lower limit, floor of the upper one",
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
             "the upper limit is clamped to the last pair, R/2-1, in place of R-1",
             [](Limits index, double R) {
               return Limits{std::floor(index.low), std::min(std::ceil(index.high), R / 2 - 1)};
             }),
      Scaled<Yarn>("yarn_truncate_flipped",
                   "limits truncated where they should not be, or the reverse "
                   "(vllm-project/vllm#27722)",
                   [](Yarn& s) { s.truncate = !s.truncate; }),
      Scaled<Yarn>("yarn_other_ramp",
                   "the ramp of the paper in place of the frameworks', or the "
                   "reverse",
                   [](Yarn& s) {
                     s.ramp = s.ramp == YarnRamp::kIndex ? YarnRamp::kRotations : YarnRamp::kIndex;
                   }),
      Scaled<Yarn>("yarn_crossed_limits",
                   "limits that do not rise make a step where the ramp should turn, or the reverse "
                   "(ggml and Hugging Face differ)",
                   [](Yarn& s) {
                     s.crossed = s.crossed == YarnCrossed::kStep ? YarnCrossed::kReversed
                                                                 : YarnCrossed::kStep;
                   }),
  };
}

// What the ramp is made of: betas, the original context, the factor.
std::vector<Defect> YarnParameterDefects() {
  using Yarn = YarnScaling;
  return {
      Scaled<Yarn>("yarn_betas_swapped", "beta_fast and beta_slow swapped",
                   [](Yarn& s) { std::swap(s.beta_fast, s.beta_slow); }),
      Scaled<Yarn>("yarn_default_betas", "beta_fast and beta_slow are 32 and 1 whatever was asked",
                   [](Yarn& s) { s.beta_fast = 32, s.beta_slow = 1; }),
      Scaled<Yarn>("yarn_by_extended_context", "the extended context is taken for the original one",
                   [](Yarn& s) { s.original_max_position_embeddings *= s.factor; }),
      Scaled<Yarn>("yarn_without_two_pi", "L / beta is taken for L / (2 pi beta)",
                   [](Yarn& s) { s.original_max_position_embeddings *= 2 * M_PI; }),
      Scaled<Yarn>("yarn_factor_inverted", "multiplied by the factor, not divided",
                   [](Yarn& s) { s.factor = 1 / s.factor; }),
  };
}

// What cos and sin are multiplied by.
std::vector<Defect> YarnAmplitudeDefects() {
  using Yarn = YarnScaling;
  return {
      Amplified<Yarn>("yarn_amplitude_missing",
                      "cos and sin are not multiplied by the attention factor "
                      "(ml-explore/mlx-lm#1507)",
                      [](const Yarn&, double) { return 1; }),
      Amplified<Yarn>("yarn_amplitude_twice",
                      "cos and sin carry the attention factor, and what is rotated once more "
                      "(sgl-project/sglang#33558)",
                      [](const Yarn&, double a) { return a * a; }),
      Amplified<Yarn>("yarn_amplitude_inverted",
                      "the inverse temperature, as in the first preprint of the paper "
                      "(jquesnelle/yarn@c2474e3)",
                      [](const Yarn&, double a) { return 1 / a; }),
      Amplified<Yarn>("yarn_amplitude_root", "the root of the attention factor",
                      [](const Yarn&, double a) { return std::sqrt(a); }),
      Amplified<Yarn>("yarn_attention_factor_multiplies",
                      "a given attention factor multiplies the default one (older vLLM)",
                      [](const Yarn& s, double a) {
                        return s.attention_factor ? a * YarnMagnitude(s.factor) : a;
                      }),
      Scaled<Yarn>("yarn_attention_factor_ignored", "a given attention factor is not read",
                   [](Yarn& s) { s.attention_factor.reset(); }),
      Scaled<Yarn>(
          "yarn_mscale_ignored",
          "the ratio of mscale and mscale_all_dim is not formed (sgl-project/sglang#22711)",
          [](Yarn& s) { s.mscale = s.mscale_all_dim = std::nullopt; }),
      Amplified<Yarn>("yarn_mscale_without_ratio",
                      "mscale is taken without dividing by that of all dimensions",
                      [](const Yarn& s, double a) {
                        const bool ratio = s.mscale.value_or(0) != 0 &&
                                           s.mscale_all_dim.value_or(0) != 0 && !s.attention_factor;
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
