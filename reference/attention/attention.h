// Scaled dot-product attention: means of values, weighted by a softmax of query-key scores. With a
// bias, which is added to the scores, and with a sink: one more score per head, without key and
// value.
#pragma once

#include <optional>
#include <string_view>

#include "reference/attention/attention_attributes.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct Attention : AttentionAttributes {
  static constexpr std::string_view kName = "attention";
  static constexpr std::string_view kSignature =
      "q[B,H,S,D] k[B,K,T,D] v[B,K,T,E] bias?[B,H,S,T] sink:wide?[H] q_scale:wide?[B,K] "
      "k_scale:wide?[B,K] v_scale:wide?[B,K] -> y[B,H,S,E] lse:wide?[B,H,S]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps = "dot score scale cap bias softmax weigh";
  static constexpr std::string_view kDraw =
      "q=normal k=normal v=normal bias=normal sink=normal q_scale=near_one k_scale=near_one "
      "v_scale=near_one";
  static constexpr std::string_view kChoices =
      "with=|bias|sink|bias,sink|k_scale,v_scale|q_scale,k_scale,v_scale scale=|0.5|1 "
      "soft_cap=|2|30 mask=none|causal align=|top_left "
      "query_offset=|[2]|[1,3] window=|[1,0]|[0,1]|[2,-1] chunk=|2|3 key_length=|[3]|[4,2] "
      "segments=|[2]|[1,2] empty_rows=unspecified|zero add_bias=|before_cap|before_scale "
      "B=1|2 H=4|1|2 K=2|1|4 S=3|1|5 T=5|4|7 D=4|1|6|8 E=3|1|4";
  static constexpr std::string_view kFormula =
      "score[s,t] = cap(q[h,s] . k[g,t] scale) + bias[h,s,t],  g = floor(h / (H/K))\n"
      "             cap(x) = c tanh(x / c) if soft_cap=c, else x\n"
      "lse[h,s]   = ln sum_t e^score[s,t]\n"
      "y[h,s]     = sum_t e^(score[s,t] - lse[h,s]) v[g,t];  with a sink, times\n"
      "             sigmoid(lse[h,s] - sink[h]): e^sink[h] is one more term of the sum below\n"
      "  over the visible keys t of query s: 0 <= t < L, and with i, its index among the keys,\n"
      "    mask=causal t <= i; window=[l,r] i-l <= t <= i+r, -1 for no limit;\n"
      "    chunk=C floor(i/C) = floor(t/C); segments: i and t are in the same segment\n"
      "  q           [B,H,S,D]\n"
      "  k           [B,K,T,D]  K divides H\n"
      "  v           [B,K,T,E]\n"
      "  bias        [B,H,S,T]  0 without with=bias; finite: -infinity is not a mask, its result\n"
      "                         is unspecified\n"
      "  sink        [H]        a score: neither scaled, nor capped, nor biased\n"
      "  q_scale, k_scale, v_scale  [B,K]  multiply q, k and v of a key head, which may be codes\n"
      "                         (dtype.k=); 1 without with=\n"
      "  y           [B,H,S,E]  without visible keys: unspecified; 0 if empty_rows=zero or\n"
      "                         with a sink\n"
      "  lse         [B,H,S]    natural logarithm, without the sink; there: unspecified, or\n"
      "                         -infinity\n"
      "  add_bias               unset: as above; before_cap: cap(q.k scale + bias);\n"
      "                         before_scale: cap((q.k + bias) scale)\n"
      "  scale                  unset: D^-1/2\n"
      "  align                  bottom_right: i = s + L - S; top_left: i = s; neither of them\n"
      "                         if query_offset is set\n"
      "  query_offset           o: i = s + o, without align; one number per batch, or one for\n"
      "                         all. It is the number of tokens before this chunk of a prompt;\n"
      "                         ONNX Attention with is_causal: the length of past_key, where k\n"
      "                         and v are the present ones, past and new together;\n"
      "                         flash_attn_with_kvcache: cache_seqlens, with key_length =\n"
      "                         cache_seqlens + S\n"
      "  key_length             L: one number per batch, or one for all; unset: T. ONNX\n"
      "                         Attention: nonpad_kv_seqlen, without past_key\n"
      "  segments               lengths of packed sequences; the rest is the last sequence\n"
      "Masked keys and their values are not read: they may contain NaN.";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 1; shared keys: Ainslie et al. 2023, "
      "arXiv:2305.13245; soft cap: Gemma 2, arXiv:2408.00118, section 2; bottom_right and window: "
      "Dao-AILab/flash-attention, README 2.1 and 2.3; ONNX: onnx/onnx@04138e07d "
      "onnx/reference/ops/op_attention.py; biases: Press et al. 2021, arXiv:2108.12409, section 3; "
      "q_scale: Dao-AILab/flash-attention hopper/flash_attn_interface.py "
      "(q_descale); bias after cap: ONNX Attention since onnx/onnx#7867; before_cap: ONNX before "
      "that, and "
      "Gemma 4 audio (onnx/onnx#7829); before_scale: Falcon with ALiBi in huggingface/transformers "
      "modeling_falcon.py; sink: openai/gpt-oss gpt_oss/torch/model.py (sdpa); Miller 2023, "
      "\"Attention is off by one\"";

  OptionalInputs with;
  std::optional<AddBias> add_bias{};
  void Visit(auto&& v) {
    v(kWith, with);
    AttentionAttributes::Visit(v);
    v("add_bias", add_bias);
  }
  void Check() const;  // throws Error
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>* bias, const Tensor<Real>* sink, const Tensor<Real>* q_scale,
                  const Tensor<Real>* k_scale, const Tensor<Real>* v_scale, Tensor<Real>& y,
                  Tensor<Real>& lse) const;
  // Without optional inputs.
  template <class Real>
  void Attend(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v, Tensor<Real>& y,
              Tensor<Real>& lse) const {
    operator()<Real>(q, k, v, nullptr, nullptr, nullptr, nullptr, nullptr, y, lse);
  }
};

// q, k and v by their scales, in step scale. A kernel that multiplies scores and y instead, in that
// format, errs no more: a factor of a sum rounds once, those of its terms round each.
template <class Real>
class ScaledOperands {
 public:
  // The tensors must outlive this; scales may be null.
  ScaledOperands(const AttentionAttributes& op, const Tensor<Real>& q, const Tensor<Real>& k,
                 const Tensor<Real>& v, const Tensor<Real>* q_scale, const Tensor<Real>* k_scale,
                 const Tensor<Real>* v_scale);
  const Tensor<Real>& q() const { return scaled_q_ ? *scaled_q_ : q_; }
  const Tensor<Real>& k() const { return scaled_k_ ? *scaled_k_ : k_; }
  const Tensor<Real>& v() const { return scaled_v_ ? *scaled_v_ : v_; }

 private:
  const Tensor<Real>&q_, &k_, &v_;
  std::optional<Tensor<Real>> scaled_q_, scaled_k_, scaled_v_;
};

}  // namespace sextant
