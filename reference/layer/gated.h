// Gated linear units: the activated gate times the up projection, elementwise.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "reference/layer/activation.h"

namespace sextant {

enum class GateKind { kSwiglu, kGlu, kGeglu, kGegluTanh, kReglu };
constexpr std::array<std::string_view, 5> NamesOf(GateKind) {
  return {"swiglu", "glu", "geglu", "geglu_tanh", "reglu"};
}
// The activation that each kind applies to its gate.
constexpr ActivationKind ActivationOf(GateKind kind) {
  constexpr ActivationKind kAll[] = {ActivationKind::kSwish, ActivationKind::kSigmoid,
                                     ActivationKind::kGelu, ActivationKind::kGeluTanh,
                                     ActivationKind::kRelu};
  return kAll[static_cast<size_t>(kind)];
}

struct Gated {
  static constexpr std::string_view kName = "gated";
  static constexpr std::string_view kSignature = "gate[N,F] up[N,F] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "activation gate";
  static constexpr std::string_view kDraw = "gate=normal(3) up=normal(3)";
  static constexpr std::string_view kChoices =
      "kind=swiglu|glu|geglu|geglu_tanh|reglu beta=1|2|0 limit=|7|1.5|2.3 alpha=|1.702|1 "
      "plus_one=false|true N=3|1|5 F=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y = f(g) u, element by element\n"
      "  f           swiglu: g s(beta g), s(t) = 1 / (1 + e^-t); glu: s(g); geglu: gelu(g);\n"
      "              geglu_tanh: gelu_tanh(g); reglu: max(g, 0)   (operation `activation`)\n"
      "  g, u        gate and up; with limit: min(gate, limit) and min(max(up, -limit), limit)\n"
      "  plus_one    u + 1 takes the place of u\n"
      "  beta        swiglu only; gpt-oss names it alpha: set at most one of the two\n"
      "  gate, up, y [N,F]";
  static constexpr std::string_view kSource =
      "Shazeer 2020, arXiv:2002.05202, eq. 5 and 6; glu: Dauphin et al. 2016, arXiv:1612.08083; "
      "limit, alpha, plus_one: openai/gpt-oss, gpt_oss/torch/model.py, swiglu";

  GateKind kind = GateKind::kSwiglu;
  double beta = 1;
  std::optional<double> limit{};  // unset: no limit
  std::optional<double> alpha{};  // another name of beta; unset: beta
  bool plus_one = false;
  void Visit(auto&& v) {
    v("kind", kind);
    v("beta", beta);
    v("limit", limit);
    v("alpha", alpha);
    v("plus_one", plus_one);
  }
  void Check() const;
  double Beta() const { return alpha.value_or(beta); }
  template <class Real>
  void operator()(const Tensor<Real>& gate, const Tensor<Real>& up, Tensor<Real>& y) const;
};

}  // namespace sextant
