// One block of a LLaMA-style decoder: attention with rotated queries and keys, and a gated
// feed-forward, each with a norm and a residual connection.
#pragma once

#include <string_view>

#include "reference/block/decoder_block_attributes.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

struct DecoderBlock : DecoderBlockAttributes {
  static constexpr std::string_view kName = "decoder_block";
  static constexpr std::string_view kSignature =
      "x[S,M] position:i64[S] attn_norm:wide[M] wq[H*D,M] wk[K*D,M] wv[K*D,M] wo[M,H*D] "
      "mlp_norm:wide[M] gate[F,M] up[F,M] down[M,F] -> y[S,M] normed?[S,M] q_rotated?[H,S,D] "
      "k_rotated?[K,S,D] attention_out?[S,M] middle?[S,M] hidden?[S,F]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kDraw =
      "x=normal position=sequence attn_norm=near_one wq=normal(0.5) wk=normal(0.5) "
      "wv=normal(0.5) wo=normal(0.5) mlp_norm=near_one gate=normal(0.5) up=normal(0.5) "
      "down=normal(0.5)";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|500000 "
      "scaling=none|linear(factor=8)|dynamic(factor=4,max_position_embeddings=4) seq_len=|16 "
      "offset=0|1|2 "
      "direction=forward|transpose eps=1e-05|0.1 unit_offset=false|true "
      "kind=swiglu|geglu|geglu_tanh|glu|reglu placement=pre|branch|parallel "
      "scale=|0.5 soft_cap=|2 mask=causal|none window=|[1,0] chunk=|2 key_length=|[2] "
      "segments=|[2] "
      "empty_rows=unspecified|zero S=3|1|5 M=6|4|16 H=4|2|1 K=2|1|4 D=4|6 R=4|2 F=5|8";
  static constexpr std::string_view kFormula =
      R"(placement=pre:  h = x + A(N1 x);  y = h + F(N2 h)
branch:         h = x + N1 A(x);  y = h + N2 F(h)
parallel:       y = x + A(N1 x) + F(N2 x)       (sandwich: decoder_block_normed)
  N1, N2 = rms_norm with attn_norm, mlp_norm;  F(u) = down (act(gate u) * (up u))
  A(u) = wo attention(rope(wq u), rope(wk u), wv u), head h in rows h D .. h D + D-1
  x, y           [S,M]    tokens of one sequence
  position       [S]      tokens; integers
  wq, wk, wv     [H*D,M]  [K*D,M]  [K*D,M]   layout of torch.nn.Linear: one row per output
  wo             [M,H*D]
  gate, up, down [F,M]    [F,M]    [M,F]
  normed         [S,M]    the input of attention: N1 x, or x if placement=branch
  q_rotated, k_rotated    [H,S,D]  [K,S,D]
  attention_out  [S,M]    A, before any norm or sum
  middle         [S,M]    x + the attention branch, with its norm if placement=branch
  hidden         [S,F]    act(gate u) * (up u)
  key_length     [n]: tokens from n on are padding: no token attends to them, but they attend to
                 the others; mask, window, chunk, segments, scale and soft_cap as in attention,
                 where query s is aligned with key s
  empty_rows     output of attention where a token attends to nothing: zero, or unspecified)";
  static constexpr std::string_view kSource =
      "Touvron et al. 2023, arXiv:2302.13971, section 2.2; branch: OLMo 2, arXiv:2501.00656, "
      "section 3.2; parallel: Wang and Komatsuzaki 2021, GPT-J-6B, mesh-transformer-jax";

  void Visit(auto&& v) { VisitPlaced<PlainPlacement>(v); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& attn_norm, const Weights<Real>& wq, const Weights<Real>& wk,
                  const Weights<Real>& wv, const Weights<Real>& wo, const Tensor<Real>& mlp_norm,
                  const Weights<Real>& gate, const Weights<Real>& up, const Weights<Real>& down,
                  Tensor<Real>& y, Tensor<Real>& normed, Tensor<Real>& q_rotated,
                  Tensor<Real>& k_rotated, Tensor<Real>& attention_out, Tensor<Real>& middle,
                  Tensor<Real>& hidden) const;
};

}  // namespace sextant
