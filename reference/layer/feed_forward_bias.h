// feed_forward with a bias in every linear layer, as in the original gated linear unit.
#pragma once

#include <string_view>

#include "reference/layer/gated.h"

namespace sextant {

struct FeedForwardBias {
  static constexpr std::string_view kName = "feed_forward_bias";
  static constexpr std::string_view kSignature =
      "x[N,M] gate[F,M] gate_bias[F] up[F,M] up_bias[F] down[M,F] down_bias[M] -> y[N,M] "
      "hidden?[N,F]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "dot bias activation gate keep";
  static constexpr std::string_view kDraw =
      "x=normal gate=uniform gate_bias=normal up=uniform up_bias=normal down=uniform "
      "down_bias=normal";
  static constexpr std::string_view kChoices =
      "kind=swiglu|glu|geglu|geglu_tanh|reglu N=2|1|3 M=4|1|7 F=6|1|3|8";
  static constexpr std::string_view kFormula =
      "hidden = f(x gate^T + gate_bias) (x up^T + up_bias),  y = hidden down^T + down_bias\n"
      "  f                   as in operation `gated`, by kind\n"
      "  x, y                [N,M]\n"
      "  gate, up            [F,M]  one row per hidden channel\n"
      "  gate_bias, up_bias  [F]\n"
      "  down, down_bias     [M,F] [M]\n"
      "  hidden              [N,F]  the input of the last layer";
  static constexpr std::string_view kSource =
      "Dauphin et al. 2016, arXiv:1612.08083, eq. 1; Shazeer 2020, arXiv:2002.05202, eq. 4; the "
      "last bias: openai/gpt-oss gpt_oss/torch/model.py (MLPBlock)";

  GateKind kind = GateKind::kSwiglu;
  void Visit(auto&& v) { v("kind", kind); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& gate, const Tensor<Real>& gate_bias,
                  const Tensor<Real>& up, const Tensor<Real>& up_bias, const Tensor<Real>& down,
                  const Tensor<Real>& down_bias, Tensor<Real>& y, Tensor<Real>& hidden) const;
};

}  // namespace sextant
