// One block of a LLaMA-style decoder: attention with rotated queries and keys, and a gated
// feed-forward, each with a norm and a residual connection; and perhaps more norms, of queries and
// keys and of the outputs of both branches.
#pragma once

#include <string_view>

#include "reference/block/block_tensors.h"
#include "reference/block/decoder_block_attributes.h"

namespace sextant {

struct DecoderBlock : DecoderBlockAttributes {
  static constexpr std::string_view kName = "decoder_block";
  static constexpr std::string_view kSignature =
      "x[S,M] position:i64[S] attn_norm:wide[M] wq[H*D,M] wk[K*D,M] wv[K*D,M] wo[M,H*D] "
      "mlp_norm:wide[M] gate[F,M] up[F,M] down[M,F] q_norm:wide?[H*D] k_norm:wide?[K*D] "
      "attn_post_norm:wide?[M] mlp_post_norm:wide?[M] -> y[S,M] normed?[S,M] q_rotated?[H,S,D] "
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
      "kind=swiglu|geglu|geglu_tanh|glu|reglu placement=pre|branch|parallel|sandwich "
      "scale=|0.5 soft_cap=|2 mask=causal|none window=|[1,0] chunk=|2 key_length=|[2] "
      "segments=|[2] empty_rows=unspecified|zero qk_norm=|head|full S=3|1|5 M=6|4|16 H=4|2|1 "
      "K=2|1|4 D=4|6 R=4|2 F=5|8";
  static constexpr std::string_view kFormula =
      R"(placement=pre:  h = x + A(N1 x);  y = h + F(N2 h)
branch:         h = x + N1 A(x);  y = h + N2 F(h)
parallel:       y = x + A(N1 x) + F(N2 x)
sandwich:       h = x + P1 A(N1 x);  y = h + P2 F(N2 h)
  N1, N2 = rms_norm with attn_norm, mlp_norm;  F(u) = down (act(gate u) * (up u))
  P1, P2 = rms_norm with attn_post_norm, mlp_post_norm
  A(u) = wo attention(rope(Nq wq u), rope(Nk wk u), wv u), head h in rows h D .. h D + D-1
  qk_norm        unset: Nq, Nk change nothing
                 head: rms_norm over the D channels of each head, with its D weights of q_norm,
                 k_norm; full: over all heads of a token
  x, y           [S,M]    tokens of one sequence
  position       [S]      tokens; integers
  wq, wk, wv     [H*D,M]  [K*D,M]  [K*D,M]   layout of torch.nn.Linear: one row per output
  wo             [M,H*D]
  gate, up, down [F,M]    [F,M]    [M,F]
  q_norm, k_norm [H*D]    [K*D]    with qk_norm only. One weight for each channel of each head: if a
                          model has [D] for all heads, repeat it for each head
  attn_post_norm, mlp_post_norm    [M]  with placement=sandwich only
  normed         [S,M]    the input of attention: N1 x, or x if placement=branch
  q_rotated, k_rotated    [H,S,D]  [K,S,D]
  attention_out  [S,M]    A, before any norm or sum
  middle         [S,M]    x + the attention branch, with its norm if placement=branch or sandwich
  hidden         [S,F]    act(gate u) * (up u)
  key_length     [n]: tokens from n on are padding: no token attends to them, but they attend to
                 the others; mask, window, chunk, segments, scale and soft_cap as in attention,
                 where query s is aligned with key s
  empty_rows     output of attention where a token attends to nothing: zero, or unspecified)";
  static constexpr std::string_view kSource =
      "Touvron et al. 2023, arXiv:2302.13971, section 2.2; branch: OLMo 2, arXiv:2501.00656, "
      "section 3.2; parallel: Wang and Komatsuzaki 2021, GPT-J-6B, mesh-transformer-jax; sandwich: "
      "Gemma 3, arXiv:2503.19786, section 2; qk_norm: Qwen3, arXiv:2505.09388, section 2, and OLMo "
      "2";

  void Visit(auto&& v) {
    VisitPlaced<Placement>(v);
    v("qk_norm", qk_norm);
  }
  bool Reads(std::string_view norm) const {
    const bool is_post_norm = norm == "attn_post_norm" || norm == "mlp_post_norm";
    return is_post_norm ? placement == Placement::kSandwich : qk_norm.has_value();
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const BlockWeights<Real>& weights, const BlockOutputs<Real>& outputs) const;
};

}  // namespace sextant
