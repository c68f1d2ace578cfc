// Scalings with one number per pair.
#pragma once

#include <vector>

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

inline void ExpectOneForEachPair(std::string_view scaling, std::string_view name,
                                 const std::vector<double>& list, const RotarySetting& setting) {
  if (static_cast<int64_t>(list.size()) == setting.R / 2) return;
  throw Error(scaling, ": ", name, " has ", list.size(), " numbers, expected one for each of the ",
              setting.R / 2, " pairs of R=", setting.R);
}

// f / list[k], with list = short_factor for n <= L and long_factor for n > L. L is the original
// context, n = seq_len (unset: L). Amplitude: attention_factor if it is given; else short_mscale
// (n <= L) or long_mscale (n > L) if it is given; else sqrt(1 + ln factor / ln L), or 1 for
// factor <= 1.
// Sources: Ding et al. 2024, arXiv:2402.13753; huggingface/transformers, modeling_rope_utils.py,
// _compute_longrope_parameters, and modeling_phimoe.py (short_mscale, long_mscale).
struct LongRopeScaling {
  static constexpr std::string_view kName = "longrope";
  std::vector<double> short_factor, long_factor;
  double original_max_position_embeddings = 0;
  double factor = 0;
  std::optional<double> attention_factor{}, short_mscale{}, long_mscale{};
  void Visit(auto&& v) {
    v("short_factor", short_factor, kRequired);
    v("long_factor", long_factor, kRequired);
    v("original_max_position_embeddings", original_max_position_embeddings, kRequired);
    v("factor", factor, kRequired);
    v("attention_factor", attention_factor);
    v("short_mscale", short_mscale);
    v("long_mscale", long_mscale);
  }
  void Check(const RotarySetting& setting) const {
    ExpectOneForEachPair(kName, "short_factor", short_factor, setting);
    ExpectOneForEachPair(kName, "long_factor", long_factor, setting);
    for (const double x : short_factor) ExpectAboveZero(kName, "a number of short_factor", x);
    for (const double x : long_factor) ExpectAboveZero(kName, "a number of long_factor", x);
    ExpectAboveZero(kName, "factor", factor);
    if (!(original_max_position_embeddings > 1)) {
      throw Error(kName, ": original_max_position_embeddings is ", original_max_position_embeddings,
                  ", expected more than 1");
    }
    if (attention_factor && (short_mscale || long_mscale)) {
      throw Error(kName, ": expected attention_factor or short_mscale and long_mscale, not both");
    }
  }
  bool IsLong(const RotarySetting& setting) const {
    const double L = original_max_position_embeddings;
    return setting.seq_len && static_cast<double>(*setting.seq_len) > L;
  }
  template <class Real>
  auto Formula(const RotarySetting& setting) const {
    return [&list = IsLong(setting) ? long_factor : short_factor](const Real& f, int64_t k) {
      return f / Real(list[static_cast<size_t>(k)]);
    };
  }
  template <class Real>
  Real Amplitude(const RotarySetting& setting) const {
    if (attention_factor) return Real(*attention_factor);
    if (const auto& given = IsLong(setting) ? long_mscale : short_mscale) return Real(*given);
    if (factor <= 1) return Real(1.0);
    const Real L(original_max_position_embeddings);
    return Sqrt(Real(1.0) + LogRatio(Real(factor), L));
  }
};

// Frequencies given as numbers: learned, or computed by another program. The base is not used.
struct ExplicitScaling {
  static constexpr std::string_view kName = "explicit";
  std::vector<double> inv_freq;
  double attention_factor = 1;
  void Visit(auto&& v) {
    v("inv_freq", inv_freq, kRequired);
    v("attention_factor", attention_factor);
  }
  void Check(const RotarySetting& setting) const {
    ExpectOneForEachPair(kName, "inv_freq", inv_freq, setting);
  }
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [this](const Real&, int64_t k) { return Real(inv_freq[static_cast<size_t>(k)]); };
  }
  template <class Real>
  Real Amplitude(const RotarySetting&) const {
    return Real(attention_factor);
  }
};

}  // namespace sextant
