#include "oracle/rope/longrope_defects.h"

#include <cmath>
#include <utility>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/rope/changed_scaling.h"
#include "oracle/rope/yarn_defects.h"

namespace sextant::oracle {
namespace {

// Wrong use of the factors that divide the frequencies.
std::vector<Defect> FactorDefects() {
  using Setting = RotarySetting;
  using Long = LongRopeScaling;
  return {
      // The defects that show at only one length come first: a report puts a more general defect
      // before them only if it explains more.
      ChangedWords<Long>("longrope_switches_early",
                         "the long factors are used already at the length of the original context",
                         [](const Long& s, const Setting& setting) -> std::string {
                           const double L = s.original_max_position_embeddings;
                           if (static_cast<double>(setting.seq_len.value_or(0)) != L) return "";
                           return "seq_len=" + PrintValue(L + 1);
                         }),
      ChangedWords<Long>("longrope_switches_late",
                         "the short factors are still used one token beyond the original context",
                         [](const Long& s, const Setting& setting) -> std::string {
                           const double L = s.original_max_position_embeddings;
                           if (static_cast<double>(setting.seq_len.value_or(0)) != L + 1) return "";
                           return "seq_len=" + PrintValue(L);
                         }),
      ChangedWords<Long>("longrope_always_short", "the short factors are used at every length",
                         [](const Long&, const Setting&) { return "seq_len="; }),
      ChangedWords<Long>("longrope_always_long",
                         "the long factors are used at every length (ml-explore/mlx-lm)",
                         [](const Long&, const Setting&) { return "seq_len=9007199254740992"; }),
      ChangedScaling<Long>("longrope_lists_swapped", "short and long factors are swapped",
                           [](Long& s) { std::swap(s.short_factor, s.long_factor); }),
      ChangedScaling<Long>("longrope_multiplies", "frequencies are multiplied by the factors",
                           [](Long& s) {
                             for (double& x : s.short_factor) x = 1 / x;
                             for (double& x : s.long_factor) x = 1 / x;
                           }),
  };
}

// Wrong factors of cos and sin.
std::vector<Defect> AmplitudeDefects() {
  using Long = LongRopeScaling;
  return {
      ChangedAmplitude<Long>("longrope_amplitude_missing",
                             "cos and sin are not multiplied by the attention factor "
                             "(ggml-org/llama.cpp#6849)",
                             [](const Long&, double) { return 1; }),
      ChangedAmplitude<Long>(
          "longrope_amplitude_of_yarn",
          "the amplitude is YaRN's 1 + ln(factor) / 10 instead of the square root",
          [](const Long& s, double) { return YarnMagnitude(s.factor); }),
      ChangedAmplitude<Long>(
          "longrope_amplitude_by_extended_context",
          "the amplitude uses ln of the extended context instead of the original one",
          [](const Long& s, double a) {
            const double L = s.original_max_position_embeddings * s.factor;
            const bool given = s.attention_factor || s.short_mscale || s.long_mscale;
            if (given || s.factor <= 1) return a;
            return std::sqrt(1 + std::log(s.factor) / std::log(L));
          }),
      ChangedScaling<Long>("longrope_attention_factor_ignored",
                           "a given attention factor is not read",
                           [](Long& s) { s.attention_factor.reset(); }),
      ChangedScaling<Long>("longrope_mscales_ignored", "short_mscale and long_mscale are not read",
                           [](Long& s) { s.short_mscale = s.long_mscale = std::nullopt; }),
      ChangedScaling<Long>("longrope_mscales_swapped", "short_mscale and long_mscale are swapped",
                           [](Long& s) { std::swap(s.short_mscale, s.long_mscale); }),
  };
}

}  // namespace

std::vector<Defect> LongRopeDefects() {
  return Joined<Defect>({FactorDefects(), AmplitudeDefects()});
}

}  // namespace sextant::oracle
