// Attention with a sink: one more score per head in the softmax, without a key and a value.
#pragma once

#include <string_view>

#include "reference/attention/attention_attributes.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct AttentionSink : AttentionAttributes {
  static constexpr std::string_view kName = "attention_sink";
  static constexpr std::string_view kSignature =
      "q[B,H,S,D] k[B,K,T,D] v[B,K,T,E] sink:wide[H] -> y[B,H,S,E] lse:wide?[B,H,S]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps = "dot score scale cap softmax weigh";
  static constexpr std::string_view kDraw = "q=normal k=normal v=normal sink=normal";
  static constexpr std::string_view kChoices =
      "scale=|0.5|1 soft_cap=|2|30 mask=none|causal align=|top_left query_offset=|[2]|[1,3] "
      "window=|[1,0]|[0,1]|[2,-1] chunk=|2|3 key_length=|[3]|[4,2] segments=|[2]|[1,2] "
      "empty_rows=unspecified|zero B=1|2 H=4|1|2 K=2|1|4 S=3|1|5 T=5|4|7 D=4|1|6|8 E=3|1|4";
  static constexpr std::string_view kFormula =
      "y[h,s]   = sum_t e^score[s,t] v[g,t] / (e^sink[h] + sum_t e^score[s,t])\n"
      "lse[h,s] = ln sum_t e^score[s,t]\n"
      "score, g and the visible keys: as in attention\n"
      "  q           [B,H,S,D]\n"
      "  k           [B,K,T,D]  K divides H\n"
      "  v           [B,K,T,E]\n"
      "  sink        [H]        a score, neither scaled nor capped\n"
      "  y           [B,H,S,E]\n"
      "  lse         [B,H,S]    without the sink; y = sigmoid(lse - sink) * the y of attention";
  static constexpr std::string_view kSource =
      "gpt-oss: openai/gpt-oss gpt_oss/torch/model.py (sdpa); Miller 2023, \"Attention is off by "
      "one\"";

  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& sink, Tensor<Real>& y, Tensor<Real>& lse) const;
};

}  // namespace sextant
