// The feed-forward part of a decoder block: a gated linear unit of two linear layers, then a third
// linear layer.
#pragma once

#include <string_view>

#include "reference/layer/gated.h"
#include "reference/number/weights.h"

namespace sextant {

struct FeedForward {
  static constexpr std::string_view kName = "feed_forward";
  static constexpr std::string_view kSignature =
      "x[N,M] gate[F,M] up[F,M] down[M,F] -> y[N,M] hidden?[N,F]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "dot activation gate keep";
  static constexpr std::string_view kDraw = "x=normal gate=uniform up=uniform down=uniform";
  static constexpr std::string_view kChoices =
      "kind=swiglu|glu|geglu|geglu_tanh|reglu N=2|1|3 M=4|1|7 F=6|1|3|8";
  static constexpr std::string_view kFormula =
      "hidden = f(x gate^T) (x up^T),  y = hidden down^T\n"
      "  f         as in operation `gated`, by kind\n"
      "  x, y      [N,M]\n"
      "  gate, up  [F,M]  one row per hidden channel (Llama: w1 and w3; gate_proj and up_proj)\n"
      "  down      [M,F]  (w2; down_proj)\n"
      "  hidden    [N,F]  the input of the last layer";
  static constexpr std::string_view kSource =
      "Shazeer 2020, arXiv:2002.05202, eq. 6; meta-llama/llama-models models/llama3/model.py "
      "(FeedForward)";

  GateKind kind = GateKind::kSwiglu;
  void Visit(auto&& v) { v("kind", kind); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& gate, const Weights<Real>& up,
                  const Weights<Real>& down, Tensor<Real>& y, Tensor<Real>& hidden) const;
};

}  // namespace sextant
