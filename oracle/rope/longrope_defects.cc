#include "oracle/rope/longrope_defects.h"

#include <cmath>
#include <utility>

#include "oracle/defect/catalog_entry.h"
#include "oracle/rope/changed_scaling.h"
#include "oracle/rope/yarn_defects.h"

namespace sextant::oracle {
namespace {

// Which factors divide the frequencies, and how.
std::vector<Defect> FactorDefects() {
  using Setting = RotarySetting;
  using Long = LongRopeScaling;
  return {
      // First the bugs that show at one length alone: who reads causes from the top meets a wider
      // one only where it explains more.
      WithWords<Long>("longrope_switches_early",
                      "the long factors already at the length of the original context",
                      [](const Long& s, const Setting& setting) -> std::string {
                        const double L = s.original_max_position_embeddings;
                        if (static_cast<double>(setting.seq_len.value_or(0)) != L) return "";
                        return "seq_len=" + PrintValue(L + 1);
                      }),
      WithWords<Long>("longrope_switches_late", "the short factors one token beyond their context",
                      [](const Long& s, const Setting& setting) -> std::string {
                        const double L = s.original_max_position_embeddings;
                        if (static_cast<double>(setting.seq_len.value_or(0)) != L + 1) return "";
                        return "seq_len=" + PrintValue(L);
                      }),
      WithWords<Long>("longrope_always_short", "the short factors at every length",
                      [](const Long&, const Setting&) { return "seq_len="; }),
      WithWords<Long>("longrope_always_long",
                      "the long factors at every length (ml-explore/mlx-lm)",
                      [](const Long&, const Setting&) { return "seq_len=9007199254740992"; }),
      Scaled<Long>("longrope_lists_swapped", "short and long factors swapped",
                   [](Long& s) { std::swap(s.short_factor, s.long_factor); }),
      Scaled<Long>("longrope_multiplies", "frequencies are multiplied by the factors",
                   [](Long& s) {
                     for (double& x : s.short_factor) x = 1 / x;
                     for (double& x : s.long_factor) x = 1 / x;
                   }),
  };
}

// What cos and sin are multiplied by.
std::vector<Defect> AmplitudeDefects() {
  using Long = LongRopeScaling;
  return {
      Amplified<Long>("longrope_amplitude_missing",
                      "cos and sin are not multiplied by the attention factor "
                      "(ggml-org/llama.cpp#6849)",
                      [](const Long&, double) { return 1; }),
      Amplified<Long>("longrope_amplitude_of_yarn", "1 + ln(factor) / 10 in place of the root",
                      [](const Long& s, double) { return YarnMagnitude(s.factor); }),
      Amplified<Long>("longrope_amplitude_by_extended_context",
                      "ln of the extended context in place of the original one's",
                      [](const Long& s, double a) {
                        const double L = s.original_max_position_embeddings * s.factor;
                        const bool given = s.attention_factor || s.short_mscale || s.long_mscale;
                        if (given || s.factor <= 1) return a;
                        return std::sqrt(1 + std::log(s.factor) / std::log(L));
                      }),
      Scaled<Long>("longrope_attention_factor_ignored", "a given attention factor is not read",
                   [](Long& s) { s.attention_factor.reset(); }),
      Scaled<Long>("longrope_mscales_ignored", "short_mscale and long_mscale are not read",
                   [](Long& s) { s.short_mscale = s.long_mscale = std::nullopt; }),
      Scaled<Long>("longrope_mscales_swapped", "short_mscale and long_mscale swapped",
                   [](Long& s) { std::swap(s.short_mscale, s.long_mscale); }),
  };
}

}  // namespace

std::vector<Defect> LongRopeDefects() {
  return Joined<Defect>({FactorDefects(), AmplitudeDefects()});
}

}  // namespace sextant::oracle
