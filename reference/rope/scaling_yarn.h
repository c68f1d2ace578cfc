// YaRN: high frequencies stay, low ones are divided, with a ramp over the pairs between.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

// In what the ramp is linear: in the index of the pair, as in every released framework, or in the
// turns that it makes within the original context, as in the paper. They differ by up to 4 times.
enum class YarnRamp { kIndex, kRotations };
constexpr std::array<std::string_view, 2> NamesOf(YarnRamp) { return {"index", "rotations"}; }

// What a ramp is whose limits do not rise: `reversed` divides by their negative difference (by
// 0.001 if they are equal), as Hugging Face does; `step` divides by 0.001 in both cases, as ggml.
enum class YarnCrossed { kReversed, kStep };
constexpr std::array<std::string_view, 2> NamesOf(YarnCrossed) { return {"reversed", "step"}; }

// f (1 - r) + f / factor r. With the index of the pair that turns `beta` times in L tokens, the
// original context,
//   index(beta) = R ln(L / (2 pi beta)) / (2 ln base)
//   low = index(beta_fast), high = index(beta_slow); truncate: floor(low), ceil(high)
//   r = (k - max(low, 0)) / (min(high, R-1) - max(low, 0)), limited to 0 .. 1
// The upper limit is R-1, not the last pair's R/2-1. With ramp=rotations,
//   r = 1 - (L f / 2 pi - beta_slow) / (beta_fast - beta_slow), limited to 0 .. 1
// Amplitude: attention_factor; else g(mscale) / g(mscale_all_dim) where both are given and not 0;
// else g(1); with g(m) = 1 + m ln(factor) / 10, 1 for factor <= 1.
// Sources: Peng et al. 2023, arXiv:2309.00071, sections 3.2 to 3.4; huggingface/transformers,
// modeling_rope_utils.py, _compute_yarn_parameters; ggml, src/ggml-cpu/ops.cpp (rope_yarn_ramp).
struct YarnScaling {
  static constexpr std::string_view kName = "yarn";
  double factor = 0;
  double original_max_position_embeddings = 0;
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;
  YarnRamp ramp = YarnRamp::kIndex;
  YarnCrossed crossed = YarnCrossed::kReversed;
  std::optional<double> attention_factor{}, mscale{}, mscale_all_dim{};
  // No parameters: how far rounding moved the truncated limits. 0 is the truth.
  double low_shift = 0, high_shift = 0;
  void Visit(auto&& v) {
    v("factor", factor, kRequired);
    v("original_max_position_embeddings", original_max_position_embeddings, kRequired);
    v("beta_fast", beta_fast);
    v("beta_slow", beta_slow);
    v("truncate", truncate);
    v("ramp", ramp);
    v("crossed", crossed);
    v("attention_factor", attention_factor);
    v("mscale", mscale);
    v("mscale_all_dim", mscale_all_dim);
  }
  void Check(const RotarySetting& setting) const;

  template <class Real>
  auto Formula(const RotarySetting& setting) const {
    const Ramp<Real> index = ramp == YarnRamp::kIndex ? IndexRamp<Real>(setting) : Ramp<Real>{};
    return [this, index, s = Real(factor)](const Real& f, int64_t k) {
      const Real r = ramp == YarnRamp::kIndex ? index(static_cast<double>(k)) : ByRotations(f);
      const Real kept = Real(1.0) - r;
      return f / s * (Real(1.0) - kept) + f * kept;
    };
  }
  template <class Real>
  Real Amplitude(const RotarySetting&) const {
    if (attention_factor) return Real(*attention_factor);
    if (mscale.value_or(0) == 0 || mscale_all_dim.value_or(0) == 0) return Magnitude<Real>(1);
    if (*mscale == *mscale_all_dim) return Real(1.0);
    return Magnitude<Real>(*mscale) / Magnitude<Real>(*mscale_all_dim);
  }

  // Limits moved to where rounding of their indices by the thread's recipe may move them.
  std::vector<YarnScaling> Alternatives(const RotarySetting& setting) const;

  // The pair, not rounded, that turns `beta` times in the original context.
  template <class Real>
  Real IndexOf(double beta, const RotarySetting& setting) const {
    const Real two_pi = TwoPiOf(static_cast<const Real*>(nullptr));
    const Real turns = Real(original_max_position_embeddings) / (Real(beta) * two_pi);
    return Real(static_cast<double>(setting.R)) * Log(turns) /
           (Real(2.0) * Log(Real(setting.base)));
  }

 private:
  template <class Real>
  struct Ramp {
    Real low{}, width{};
    Real operator()(double k) const { return Clamp((Real(k) - low) / width, Real(0.0), Real(1.0)); }
  };

  // The index is no integer: then pi would be algebraic. So its floor can be proven, and its
  // ceiling is the floor plus 1.
  template <class Real>
  Ramp<Real> IndexRamp(const RotarySetting& setting) const {
    const Real fast = IndexOf<Real>(beta_fast, setting), slow = IndexOf<Real>(beta_slow, setting);
    const Real least = Real(1.0) / Real(1000.0);
    const double last = static_cast<double>(setting.R - 1);
    if (truncate) {
      const double low = std::max(Floor(fast) + low_shift, 0.0);
      const double high = std::min(-Floor(-slow) + high_shift, last);
      const bool step = low == high || (low > high && crossed == YarnCrossed::kStep);
      return {Real(low), step ? least : Real(high - low)};
    }
    const bool below = Floor(fast) < 0, above = Floor(slow) >= last;
    const Real low = below ? Real(0.0) : fast, high = above ? Real(last) : slow;
    if (beta_fast == beta_slow && !below && !above) return {low, least};
    const Real width = high - low;
    if (crossed == YarnCrossed::kReversed) return {low, width};
    return {low, Clamp(width, least, Real(last + 1))};
  }

  template <class Real>
  Real ByRotations(const Real& f) const {
    const Real two_pi = TwoPiOf(static_cast<const Real*>(nullptr));
    const Real turns = Real(original_max_position_embeddings) * f / two_pi;
    const Real kept = (turns - Real(beta_slow)) / (Real(beta_fast) - Real(beta_slow));
    return Real(1.0) - Clamp(kept, Real(0.0), Real(1.0));
  }

  template <class Real>
  Real Magnitude(double m) const {
    if (factor <= 1) return Real(1.0);
    return Real(1.0) / Real(10.0) * Real(m) * Log(Real(factor)) + Real(1.0);
  }
};

}  // namespace sextant
