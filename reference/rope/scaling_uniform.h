// Scalings that divide all rotated pairs by the same number.
#pragma once

#include <cmath>

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

struct NoScaling {
  static constexpr std::string_view kName = "none";
  void Visit(auto&&) {}
  void Check(const RotarySetting&) const {}
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [](const Real& f, int64_t) { return f; };
  }
};

// f / factor. Source: Chen et al. 2023, arXiv:2306.15595, eq. 4 (position interpolation).
struct LinearScaling {
  static constexpr std::string_view kName = "linear";
  double factor = 0;
  void Visit(auto&& v) { v("factor", factor, kRequired); }
  void Check(const RotarySetting&) const { ExpectAboveZero(kName, "factor", factor); }
  template <class Real>
  auto Formula(const RotarySetting&) const {
    return [s = Real(factor)](const Real& f, int64_t) { return f / s; };
  }
};

// f / factor for the first floor(partial_rotary_factor R / 2) pairs; 0 for the others, which are
// not rotated although R is the whole head. The product is rounded to binary64, as in every
// framework. Source: huggingface/transformers, modeling_rope_utils.py,
// _compute_proportional_rope_parameters (Gemma 4).
struct ProportionalScaling {
  static constexpr std::string_view kName = "proportional";
  double partial_rotary_factor = 0;
  double factor = 1;
  void Visit(auto&& v) {
    v("partial_rotary_factor", partial_rotary_factor, kRequired);
    v("factor", factor);
  }
  void Check(const RotarySetting&) const {
    ExpectAboveZero(kName, "factor", factor);
    if (!(partial_rotary_factor >= 0 && partial_rotary_factor <= 1)) {
      throw Error(kName, ": partial_rotary_factor is ", partial_rotary_factor, ", expected 0 to 1");
    }
  }
  template <class Real>
  auto Formula(const RotarySetting& setting) const {
    const double rotated = std::floor(partial_rotary_factor * static_cast<double>(setting.R) / 2);
    return [rotated, s = Real(factor)](const Real& f, int64_t k) {
      return static_cast<double>(k) < rotated ? f / s : Real(0.0);
    };
  }
};

}  // namespace sextant
