// Llama 3.1's scaling: high frequencies are unchanged, low frequencies divided, with a ramp
// between.
#pragma once

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

// (1-m) f / factor + m f with m = (L/w - low_freq_factor) / (high_freq_factor - low_freq_factor),
// clamped to 0 .. 1. w = 2 pi / f is the wavelength, L the original context. So the result is
// f / factor for w > L / low_freq_factor, and f for w < L / high_freq_factor. If the two factors
// are equal (Llama 4 Scout), there is a step instead of a ramp; w is never exactly at the step,
// because pi is irrational. Source: meta-llama/llama-models, models/llama3/model.py
// (apply_scaling), commit a9c89c4.
struct Llama3Scaling {
  static constexpr std::string_view kName = "llama3";
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_max_position_embeddings = 8192;
  void Visit(auto&& v) {
    v("factor", factor);
    v("low_freq_factor", low_freq_factor);
    v("high_freq_factor", high_freq_factor);
    v("original_max_position_embeddings", original_max_position_embeddings);
  }
  void Check(const RotarySetting&) const {
    ExpectAboveZero(kName, "factor", factor);
    ExpectAboveZero(kName, "original_max_position_embeddings", original_max_position_embeddings);
    if (!(low_freq_factor > 0 && high_freq_factor >= low_freq_factor)) {
      throw Error(kName, ": low_freq_factor is ", low_freq_factor, " and high_freq_factor ",
                  high_freq_factor, ", expected 0 < low <= high");
    }
  }
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [this](const Real& f, int64_t) {
      const Real two_pi = TwoPiOf(static_cast<const Real*>(nullptr));
      const Real rotations = Real(original_max_position_embeddings) * f / two_pi;  // L / w
      const Real low(low_freq_factor), band = Real(high_freq_factor) - low;
      if (low_freq_factor == high_freq_factor)
        return Floor(rotations / low) < 1 ? f / Real(factor) : f;
      const Real m = Clamp((rotations - low) / band, Real(0.0), Real(1.0));
      return (Real(1.0) - m) * f / Real(factor) + m * f;
    };
  }
};

}  // namespace sextant
