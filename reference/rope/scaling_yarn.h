// YaRN: high frequencies are unchanged, low frequencies divided, with a ramp between.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/rope/scaling_setting.h"

namespace sextant {

// The variable in which the ramp is linear: the index of the pair, as in every released framework,
// or the number of its rotations within the original context, as in the paper. The results differ
// by a factor of up to 4.
enum class YarnRamp { kIndex, kRotations };
constexpr std::array<std::string_view, 2> NamesOf(YarnRamp) { return {"index", "rotations"}; }

// The ramp where low >= high: `reversed` divides by the negative difference high - low (by 0.001 if
// they are equal), as Hugging Face does; `step` divides by 0.001 in both cases, as ggml does.
enum class YarnCrossed { kReversed, kStep };
constexpr std::array<std::string_view, 2> NamesOf(YarnCrossed) { return {"reversed", "step"}; }

// f (1 - r) + f / factor r. Let index(beta) be the real-valued index of the pair that makes `beta`
// rotations within L tokens, the original context:
//   index(beta) = R ln(L / (2 pi beta)) / (2 ln base)
//   low = index(beta_fast), high = index(beta_slow); truncate: floor(low), ceil(high)
//   r = (k - max(low, 0)) / (min(high, R-1) - max(low, 0)), clamped to 0 .. 1
// The upper limit is R-1, not R/2-1, the index of the last pair. With ramp=rotations,
//   r = 1 - (L f / 2 pi - beta_slow) / (beta_fast - beta_slow), clamped to 0 .. 1
// Amplitude: attention_factor if it is given; else g(mscale) / g(mscale_all_dim) if both are given
// and not 0; else g(1). g(m) = 1 + m ln(factor) / 10, or 1 for factor <= 1.
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
  // Not parameters: the change of the truncated limits by rounding. 0 in the exact formula.
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
      const Real unscaled = Real(1.0) - r;
      return f / s * (Real(1.0) - unscaled) + f * unscaled;
    };
  }
  template <class Real>
  Real Amplitude(const RotarySetting&) const {
    if (attention_factor) return Real(*attention_factor);
    if (mscale.value_or(0) == 0 || mscale_all_dim.value_or(0) == 0) return Magnitude<Real>(1);
    if (*mscale == *mscale_all_dim) return Real(1.0);
    return Magnitude<Real>(*mscale) / Magnitude<Real>(*mscale_all_dim);
  }

  // This scaling with every other pair of truncated limits that rounding of index(beta) by the
  // thread's recipe may give.
  std::vector<YarnScaling> Alternatives(const RotarySetting& setting) const;

  // index(beta), before truncation.
  template <class Real>
  Real IndexOf(double beta, const RotarySetting& setting) const {
    const Real two_pi = TwoPiOf(static_cast<const Real*>(nullptr));
    const Real ratio = Real(original_max_position_embeddings) / (Real(beta) * two_pi);
    return Real(static_cast<double>(setting.R)) * Log(ratio) /
           (Real(2.0) * Log(Real(setting.base)));
  }

 private:
  template <class Real>
  struct Ramp {
    Real low{}, width{};
    Real operator()(double k) const { return Clamp((Real(k) - low) / width, Real(0.0), Real(1.0)); }
  };

  // index(beta) is never an integer, because pi would then be algebraic. So its floor can be
  // proven, and its ceiling is the floor plus 1.
  template <class Real>
  Ramp<Real> IndexRamp(const RotarySetting& setting) const {
    const Real fast = IndexOf<Real>(beta_fast, setting), slow = IndexOf<Real>(beta_slow, setting);
    const Real step_width = Real(1.0) / Real(1000.0);
    const double last = static_cast<double>(setting.R - 1);
    if (truncate) {
      const double low = std::max(Floor(fast) + low_shift, 0.0);
      const double high = std::min(-Floor(-slow) + high_shift, last);
      const bool step = low == high || (low > high && crossed == YarnCrossed::kStep);
      return {Real(low), step ? step_width : Real(high - low)};
    }
    const bool below = Floor(fast) < 0, above = Floor(slow) >= last;
    const Real low = below ? Real(0.0) : fast, high = above ? Real(last) : slow;
    if (beta_fast == beta_slow && !below && !above) return {low, step_width};
    const Real width = high - low;
    if (crossed == YarnCrossed::kReversed) return {low, width};
    return {low, Clamp(width, step_width, Real(last + 1))};
  }

  template <class Real>
  Real ByRotations(const Real& f) const {
    const Real two_pi = TwoPiOf(static_cast<const Real*>(nullptr));
    const Real rotations = Real(original_max_position_embeddings) * f / two_pi;
    const Real unscaled = (rotations - Real(beta_slow)) / (Real(beta_fast) - Real(beta_slow));
    return Real(1.0) - Clamp(unscaled, Real(0.0), Real(1.0));
  }

  template <class Real>
  Real Magnitude(double m) const {
    if (factor <= 1) return Real(1.0);
    return Real(1.0) / Real(10.0) * Real(m) * Log(Real(factor)) + Real(1.0);
  }
};

}  // namespace sextant
