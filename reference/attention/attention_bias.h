// Attention with a bias added to the scores.
#pragma once

#include <string_view>

#include "reference/attention/attention_attributes.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct AttentionBias : AttentionAttributes {
  static constexpr std::string_view kName = "attention_bias";
  static constexpr std::string_view kSignature =
      "q[B,H,S,D] k[B,K,T,D] v[B,K,T,E] bias[B,H,S,T] -> y[B,H,S,E] lse:wide?[B,H,S]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps = "dot score scale cap bias softmax weigh";
  static constexpr std::string_view kDraw = "q=normal k=normal v=normal bias=normal";
  static constexpr std::string_view kChoices =
      "scale=|0.5|1 soft_cap=|2|30 mask=none|causal align=|top_left query_offset=|[2]|[1,3] "
      "window=|[1,0]|[0,1]|[2,-1] chunk=|2|3 key_length=|[3]|[4,2] segments=|[2]|[1,2] "
      "empty_rows=unspecified|zero scale_bias=false|true B=1|2 H=4|1|2 K=2|1|4 S=3|1|5 T=5|4|7 "
      "D=4|1|6|8 E=3|1|4";
  static constexpr std::string_view kFormula =
      "score[s,t] = cap(q[h,s] . k[g,t] scale) + bias[h,s,t],  g = floor(h / (H/K))\n"
      "             cap((q[h,s] . k[g,t] + bias[h,s,t]) scale) if scale_bias\n"
      "             cap(x) = c tanh(x / c) if soft_cap=c, else x\n"
      "lse, y and the visible keys: as in attention\n"
      "  q           [B,H,S,D]\n"
      "  k           [B,K,T,D]  K divides H\n"
      "  v           [B,K,T,E]\n"
      "  bias        [B,H,S,T]  finite; -infinity is not a mask: its result is unspecified\n"
      "  y           [B,H,S,E]\n"
      "  lse         [B,H,S]";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 1; biases: Press et al. 2021, arXiv:2108.12409, "
      "section 3; scale_bias: Falcon in huggingface/transformers modeling_falcon.py, with ALiBi";

  bool scale_bias = false;
  void Visit(auto&& v) {
    AttentionAttributes::Visit(v);
    v("scale_bias", scale_bias);
  }
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& bias, Tensor<Real>& y, Tensor<Real>& lse) const;
};

}  // namespace sextant
