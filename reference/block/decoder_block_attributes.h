// The attributes shared by the operations decoder_block and decoder.
#pragma once

#include "reference/attention/inner_attention.h"
#include "reference/layer/gated.h"
#include "reference/layer/rms_norm.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

// Where a block normalises. A is attention, F the feed-forward, N1 and N2 their norms.
enum class Placement {
  kPre,       // h = x + A(N1 x), y = h + F(N2 h): Llama, Mistral, Qwen
  kBranch,    // h = x + N1 A(x), y = h + N2 F(h): OLMo-2
  kParallel,  // y = x + A(N1 x) + F(N2 x): GPT-J and Cohere (with one norm), GPT-NeoX
  kSandwich,  // h = x + P1 A(N1 x), y = h + P2 F(N2 h), with two more norms: Gemma 2 and 3
};
constexpr std::array<std::string_view, 4> NamesOf(Placement) {
  return {"pre", "branch", "parallel", "sandwich"};
}
// The placements of `decoder`, whose blocks have the norms N1 and N2 only: the first of Placement.
enum class PlainPlacement { kPre, kBranch, kParallel };
constexpr std::array<std::string_view, 3> NamesOf(PlainPlacement) {
  return {"pre", "branch", "parallel"};
}

// How queries and keys are normalised before they are rotated, if they are.
enum class QkNorm {
  kHead,  // over each head: Qwen3, Gemma 3
  kFull,  // over all heads of a token: OLMo-2
};
constexpr std::array<std::string_view, 2> NamesOf(QkNorm) { return {"head", "full"}; }

struct DecoderBlockAttributes : RopeAttributes, InnerAttention {
  static constexpr std::string_view kSteps =
      "exponent frequency angle trig table rotate square sum rsqrt scale weigh dot score cap "
      "softmax activation gate keep";

  double eps = 1e-5;
  bool unit_offset = false;  // all norms multiply by 1 + weight
  GateKind kind{};
  Placement placement = Placement::kPre;
  std::optional<QkNorm> qk_norm{};  // only of decoder_block
  DecoderBlockAttributes() { mask = Mask::kCausal; }
  // P is the operation's type of `placement`: Placement or PlainPlacement.
  template <NamedEnum P>
  void VisitPlaced(auto&& v) {
    RopeAttributes::Visit(v);
    v("eps", eps);
    v("unit_offset", unit_offset);
    v("kind", kind);
    auto visited = static_cast<P>(placement);
    v("placement", visited);
    if (const auto set = static_cast<Placement>(visited); set != placement) placement = set;
    v("scale", scale);
    v("soft_cap", soft_cap);
    v("mask", mask);
    VisitLimits(v);
    v("H", H);
    v("K", K);
    v("S", S);
  }
  void Check() const {
    RopeAttributes::Check();
    Norm().Check();
    MakeAttention().Check();
  }

  RmsNorm Norm() const { return {.eps = eps, .unit_offset = unit_offset}; }
};

}  // namespace sextant
