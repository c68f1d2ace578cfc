// Rotation and attention in one operation, as in a fused kernel.
#pragma once

#include <string_view>

#include "reference/attention/attention_attributes.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

struct RopeAttention : RopeAttributes, AttentionAttributes {
  static constexpr std::string_view kName = "rope_attention";
  static constexpr std::string_view kSignature =
      "q[B,H,S,D] k[B,K,T,D] v[B,K,T,E] position_q:i64[B,S] position_k:i64[B,T] -> y[B,H,S,E] "
      "lse:wide?[B,H,S]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps =
      "exponent frequency angle trig table rotate keep dot score scale cap softmax weigh";
  static constexpr std::string_view kDraw =
      "q=normal k=normal v=normal position_q=sequence position_k=sequence";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|2 scaling=none|linear(factor=8)|"
      "dynamic(factor=10,max_position_embeddings=2048) seq_len=|4096 "
      "offset=0|2 direction=forward|transpose "
      "scale=|0.5 soft_cap=|2 mask=none|causal align=|top_left "
      "query_offset=|[2]|[1,3] window=|[1,0] "
      "chunk=|2 key_length=|[3]|[4,2] segments=|[2] empty_rows=unspecified|zero "
      "B=1|2 H=4|1|2 K=2|1|4 S=3|1|5 T=5|4|7 D=4|6|8 E=3|1|4 R=4|2|6";
  static constexpr std::string_view kFormula =
      "attention(rope(q, position_q), rope(k, position_k), v)\n"
      "  q           [B,H,S,D]\n"
      "  k           [B,K,T,D]  K divides H\n"
      "  v           [B,K,T,E]  not rotated\n"
      "  position_q  [B,S]      tokens; integers; they determine the rotation, not the mask\n"
      "  position_k  [B,T]\n"
      "  y           [B,H,S,E]\n"
      "  lse         [B,H,S]\n"
      "The visible keys follow from the index of the query among the keys, as in attention.";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, eq. 34, and Vaswani et al. 2017, arXiv:1706.03762, eq. 1";

  void Visit(auto&& v) {
    RopeAttributes::Visit(v);
    AttentionAttributes::Visit(v);
  }
  void Check() const {
    RopeAttributes::Check();
    AttentionAttributes::Check();
  }
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<double>& position_q, const Tensor<double>& position_k,
                  Tensor<Real>& y, Tensor<Real>& lse) const;
};

}  // namespace sextant
