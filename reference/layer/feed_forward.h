// The feed-forward part of a decoder block: a gated linear unit of two linear layers, then a third
// linear layer. Each of the three may have a bias.
#pragma once

#include <string_view>

#include "reference/case/optional_inputs.h"
#include "reference/layer/gated.h"
#include "reference/number/weights.h"

namespace sextant {

// hidden = f(gate) up, row by row, on the threads of this evaluation. All are [N,F].
template <class Real>
void ApplyGate(const Gated& gated, const Tensor<Real>& gate, const Tensor<Real>& up,
               Tensor<Real>& hidden);

struct FeedForward {
  static constexpr std::string_view kName = "feed_forward";
  static constexpr std::string_view kSignature =
      "x[N,M] gate[F,M] up[F,M] down[M,F] gate_bias?[F] up_bias?[F] down_bias?[M] -> y[N,M] "
      "hidden?[N,F]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "dot bias activation gate keep";
  static constexpr std::string_view kDraw =
      "x=normal gate=uniform up=uniform down=uniform gate_bias=normal up_bias=normal "
      "down_bias=normal";
  static constexpr std::string_view kChoices =
      "with=|gate_bias,up_bias,down_bias|gate_bias,up_bias|down_bias "
      "kind=swiglu|glu|geglu|geglu_tanh|reglu N=2|1|3 M=4|1|7 F=6|1|3|8";
  static constexpr std::string_view kFormula =
      "hidden = f(x gate^T + gate_bias) (x up^T + up_bias),  y = hidden down^T + down_bias\n"
      "  f                   as in operation `gated`, by kind\n"
      "  x, y                [N,M]\n"
      "  gate, up            [F,M]  one row per hidden channel (Llama: w1 and w3; gate_proj and\n"
      "                             up_proj)\n"
      "  down                [M,F]  (w2; down_proj)\n"
      "  gate_bias, up_bias  [F]    usually all biases or none; Dauphin has these two; 0 if\n"
      "                             with= does not name them\n"
      "  down_bias           [M]\n"
      "  hidden              [N,F]  the input of the last layer";
  static constexpr std::string_view kSource =
      "Shazeer 2020, arXiv:2002.05202, eq. 6; meta-llama/llama-models models/llama3/model.py "
      "(FeedForward); gate_bias, up_bias: Dauphin et al. 2016, arXiv:1612.08083, eq. 1; Shazeer's "
      "eq. 4; down_bias: openai/gpt-oss gpt_oss/torch/model.py (MLPBlock)";

  OptionalInputs with;
  GateKind kind = GateKind::kSwiglu;
  void Visit(auto&& v) {
    v(kWith, with);
    v("kind", kind);
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& gate, const Weights<Real>& up,
                  const Weights<Real>& down, const Tensor<Real>* gate_bias,
                  const Tensor<Real>* up_bias, const Tensor<Real>* down_bias, Tensor<Real>& y,
                  Tensor<Real>& hidden) const;
};

}  // namespace sextant
