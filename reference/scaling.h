// The scalings of rotary frequencies: structs of {parameters, formula}, one variant.
// The formula is over any arithmetic with + - * / and Less or Clamp, found by argument-dependent
// look-up; so fast/ evaluates the same text in its own numbers.
//   f    base^-(2k/R), the unscaled frequency of a pair (radians per token)
// A new scaling is one struct here and one word in RopeScaling.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <variant>

#include "reference/attribute.h"

namespace sextant {

// x if low <= x <= high, else the nearer limit.
template <class Real>
Real Clamp(const Real& x, const Real& low, const Real& high) {
  return Less(x, low) ? low : Less(high, x) ? high : x;
}

struct NoScaling {
  static constexpr std::string_view kName = "none";
  void Visit(auto&&) {}
  template <class Real>
  Real operator()(const Real& f, const Real&) const {
    return f;
  }
};

// f / factor. Source: Chen et al. 2023, arXiv:2306.15595, eq. 4 (position interpolation).
struct LinearScaling {
  static constexpr std::string_view kName = "linear";
  double factor = 0;
  void Visit(auto&& v) { v("factor", factor, kRequired); }
  template <class Real>
  Real operator()(const Real& f, const Real&) const {
    return f / Real(factor);
  }
};

// (1-m) f / factor + m f with m = (L/w - low_freq_factor) / (high_freq_factor - low_freq_factor),
// limited to 0 .. 1, where w = 2 pi / f is the wavelength and L the original context: f / factor
// for w > L / low_freq_factor, f for w < L / high_freq_factor.
// Source: meta-llama/llama-models, models/llama3/model.py (apply_scaling), commit a9c89c4.
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
  template <class Real>
  Real operator()(const Real& f, const Real& two_pi) const {
    const Real turns = Real(original_max_position_embeddings) * f / two_pi;  // L / w
    const Real band = Real(high_freq_factor) - Real(low_freq_factor);
    const Real m = Clamp((turns - Real(low_freq_factor)) / band, Real(0.0), Real(1.0));
    return (Real(1.0) - m) * f / Real(factor) + m * f;
  }
};

using RopeScaling = std::variant<NoScaling, LinearScaling, Llama3Scaling>;

// Throws Error on parameters for which the formula is undefined.
void CheckScaling(const RopeScaling& scaling);

enum class Pairing { kHalf, kInterleaved };
constexpr std::array<std::string_view, 2> NamesOf(Pairing) { return {"half", "interleaved"}; }

enum class Direction { kForward, kTranspose };
constexpr std::array<std::string_view, 2> NamesOf(Direction) { return {"forward", "transpose"}; }

// The channels of pair k, 0 <= k < R/2: half (k, k + R/2), interleaved (2k, 2k + 1).
struct PairOfChannels {
  size_t first, second;
};
constexpr PairOfChannels ChannelsOf(Pairing pairing, size_t k, size_t rotary_width) {
  return pairing == Pairing::kHalf ? PairOfChannels{k, k + rotary_width / 2}
                                   : PairOfChannels{2 * k, 2 * k + 1};
}

}  // namespace sextant
