// Scaled scores of queries and keys, before mask, cap and softmax.
#pragma once

#include <optional>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct AttentionScores {
  static constexpr std::string_view kName = "attention_scores";
  static constexpr std::string_view kSignature = "q[B,H,S,D] k[B,K,T,D] -> scores[B,H,S,T]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps = "dot score scale";
  static constexpr std::string_view kDraw = "q=normal k=normal";
  static constexpr std::string_view kChoices =
      "scale=|0.5|1 B=1|2 H=4|1|2 K=2|1|4 S=3|1|5 T=5|1|4 D=4|1|6|8";
  static constexpr std::string_view kFormula =
      "scores[h,s,t] = q[h,s] . k[g,t] scale,  g = floor(h / (H/K))\n"
      "  q       [B,H,S,D]\n"
      "  k       [B,K,T,D]  K divides H\n"
      "  scores  [B,H,S,T]\n"
      "  scale              unset: D^-1/2";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 1; shared keys: Ainslie et al. 2023, "
      "arXiv:2305.13245";

  std::optional<double> scale{};
  Dimension H{}, K{};
  void Visit(auto&& v) {
    v("scale", scale);
    v("H", H);
    v("K", K);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, Tensor<Real>& scores) const;
};

}  // namespace sextant
