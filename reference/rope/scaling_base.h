// Scalings that change the base: "NTK-aware". The frequency f of the last pair becomes f / growth,
// the frequency of the first pair stays 1.
#pragma once

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

inline void ExpectGrowingWidth(std::string_view scaling, const RotarySetting& setting) {
  if (setting.R != 2) return;
  throw Error(scaling, ": R is 2, expected 0 or at least 4: the base grows by a power of R/(R-2)");
}

// growth = factor; some programs name it alpha. Sources: bloc97 2023, "NTK-Aware Scaled RoPE";
// jquesnelle/yarn@995db5b, scaled_rope/LlamaNTKScaledRotaryEmbedding.py.
struct NtkScaling {
  static constexpr std::string_view kName = "ntk";
  double factor = 0;
  void Visit(auto&& v) { v("factor", factor, kRequired); }
  void Check(const RotarySetting& setting) const {
    ExpectAboveZero(kName, "factor", factor);
    ExpectGrowingWidth(kName, setting);
  }
  template <class Real>
  Real Growth(const RotarySetting&) const {
    return Real(factor);
  }
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [](const Real& f, int64_t) { return f; };
  }
};

// growth = factor n / L - (factor - 1) with n = max(seq_len, L) tokens, L =
// max_position_embeddings. Source: huggingface/transformers, modeling_rope_utils.py,
// _compute_dynamic_ntk_parameters.
struct DynamicScaling {
  static constexpr std::string_view kName = "dynamic";
  double factor = 0;
  double max_position_embeddings = 0;
  void Visit(auto&& v) {
    v("factor", factor, kRequired);
    v("max_position_embeddings", max_position_embeddings, kRequired);
  }
  void Check(const RotarySetting& setting) const {
    ExpectAboveZero(kName, "factor", factor);
    ExpectAboveZero(kName, "max_position_embeddings", max_position_embeddings);
    ExpectGrowingWidth(kName, setting);
  }
  template <class Real>
  Real Growth(const RotarySetting& setting) const {
    const double L = max_position_embeddings;
    const double n = std::max(L, static_cast<double>(setting.seq_len.value_or(0)));
    return Real(factor) * Real(n) / Real(L) - (Real(factor) - Real(1.0));
  }
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [](const Real& f, int64_t) { return f; };
  }
};

// f / factor^(((k+1) / (R/2))^mixed_b): each pair is divided by its own power of factor, the last
// pair by factor. With mixed_b = 1, the default of other programs too, this is the "fixed" form:
// the base is multiplied by factor, and all frequencies are divided by factor^(2/R). Sources: Su
// 2023, kexue.fm/archives/9706; vllm-project/vllm, ntk_scaling_rope.py (rope type ntk).
struct NtkMixedScaling {
  static constexpr std::string_view kName = "ntk_mixed";
  double factor = 0;
  double mixed_b = 1;
  void Visit(auto&& v) {
    v("factor", factor, kRequired);
    v("mixed_b", mixed_b);
  }
  void Check(const RotarySetting&) const {
    ExpectAboveZero(kName, "factor", factor);
    ExpectAboveZero(kName, "mixed_b", mixed_b);
  }
  template <class Real>
  auto Formula(const RotarySetting& setting) const {
    return [this, R = setting.R](const Real& f, int64_t k) {
      const int64_t channels = 2 * (k + 1);
      if (channels == R) return f / Real(factor);  // without the error of Exp and Log
      Real exponent = Real(static_cast<double>(channels)) / Real(static_cast<double>(R));
      if (mixed_b != 1) exponent = Exp(Real(mixed_b) * Log(exponent));
      return f / Exp(exponent * Log(Real(factor)));
    };
  }
};

}  // namespace sextant
