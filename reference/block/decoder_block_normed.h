// A decoder block with more norms: of queries and keys, and of the outputs of its branches.
#pragma once

#include <string_view>

#include "reference/block/decoder_block_attributes.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

struct DecoderBlockNormed : DecoderBlockAttributes {
  static constexpr std::string_view kName = "decoder_block_normed";
  static constexpr std::string_view kSignature =
      "x[S,M] position:i64[S] attn_norm:wide[M] wq[H*D,M] wk[K*D,M] wv[K*D,M] wo[M,H*D] "
      "mlp_norm:wide[M] gate[F,M] up[F,M] down[M,F] q_norm:wide[H*D] k_norm:wide[K*D] "
      "attn_post_norm:wide[M] mlp_post_norm:wide[M] -> y[S,M] normed?[S,M] q_rotated?[H,S,D] "
      "k_rotated?[K,S,D] attention_out?[S,M] middle?[S,M] hidden?[S,F]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kDraw =
      "x=normal position=sequence attn_norm=near_one wq=normal(0.5) wk=normal(0.5) "
      "wv=normal(0.5) wo=normal(0.5) mlp_norm=near_one gate=normal(0.5) up=normal(0.5) "
      "down=normal(0.5) q_norm=near_one k_norm=near_one attn_post_norm=near_one "
      "mlp_post_norm=near_one";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|500000 "
      "scaling=none|linear(factor=8)|dynamic(factor=4,max_position_embeddings=4) seq_len=|16 "
      "offset=0|1|2 direction=forward|transpose eps=1e-05|0.1 unit_offset=false|true "
      "kind=swiglu|geglu_tanh placement=sandwich|pre|branch|parallel scale=|0.5 soft_cap=|2 "
      "mask=causal|none window=|[1,0] chunk=|2 key_length=|[2] segments=|[2] "
      "empty_rows=unspecified|zero qk_norm=head|none|full S=3|1|5 M=6|4|16 H=4|2|1 K=2|1|4 D=4|6 "
      "R=4|2 F=5|8";
  static constexpr std::string_view kFormula =
      R"(decoder_block with q and k normalised before they are rotated:
  qk_norm=head   rms_norm of wq u over the D channels of each head, with its D weights of q_norm
  qk_norm=full   rms_norm of wq u over all heads of a token
                 k in the same way, with wk and k_norm
placement=sandwich:  h = x + P1 A(N1 x);  y = h + P2 F(N2 h)
  P1, P2 = rms_norm with attn_post_norm, mlp_post_norm (other placements do not read them)
  q_norm, k_norm                 [H*D] [K*D]  one weight for each channel of each head: if a model
                                              has [D] for all heads, repeat it for each head
                                              (qk_norm=none does not read them)
  attn_post_norm, mlp_post_norm  [M]
  all others                     as in decoder_block)";
  static constexpr std::string_view kSource =
      "Gemma 3, arXiv:2503.19786, section 2; Qwen3, arXiv:2505.09388, section 2; OLMo 2, "
      "arXiv:2501.00656, section 3.2";

  QkNorm qk_norm = QkNorm::kNone;
  void Visit(auto&& v) {
    VisitPlaced<Placement>(v);
    v("qk_norm", qk_norm);
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& attn_norm, const Weights<Real>& wq, const Weights<Real>& wk,
                  const Weights<Real>& wv, const Weights<Real>& wo, const Tensor<Real>& mlp_norm,
                  const Weights<Real>& gate, const Weights<Real>& up, const Weights<Real>& down,
                  const Tensor<Real>& q_norm, const Tensor<Real>& k_norm,
                  const Tensor<Real>& attn_post_norm, const Tensor<Real>& mlp_post_norm,
                  Tensor<Real>& y, Tensor<Real>& normed, Tensor<Real>& q_rotated,
                  Tensor<Real>& k_rotated, Tensor<Real>& attention_out, Tensor<Real>& middle,
                  Tensor<Real>& hidden) const;
};

}  // namespace sextant
