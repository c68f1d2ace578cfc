// Attention of one sequence to another, with its projections, as a decoder of the original
// Transformer attends to the output of the encoder.
#pragma once

#include <string_view>

#include "reference/attention/inner_attention.h"
#include "reference/attention/multi_head_weights.h"

namespace sextant {

struct CrossAttention : InnerAttention {
  static constexpr std::string_view kName = "cross_attention";
  static constexpr std::string_view kSignature =
      "x[S,M] memory[T,M] wq[H*D,M] bq[H*D] wk[K*D,M] bk[K*D] wv[K*D,M] bv[K*D] wo[M,H*D] bo[M] "
      "-> y[S,M] q?[H,S,D] k?[K,T,D] v?[K,T,D] mean?[S,H*D]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kSteps = "dot bias score scale cap softmax weigh keep";
  static constexpr std::string_view kDraw =
      "x=normal memory=normal wq=normal(0.5) bq=normal(0.5) wk=normal(0.5) bk=normal(0.5) "
      "wv=normal(0.5) bv=normal(0.5) wo=normal(0.5) bo=normal(0.5)";
  static constexpr std::string_view kChoices =
      "scale=|0.5|1 soft_cap=|2 key_length=|[2]|[1] empty_rows=unspecified|zero S=3|1|4 T=5|4|2 "
      "M=6|4|8 H=2|4|1 K=2|1|4 D=3|4|1|2";
  static constexpr std::string_view kFormula =
      R"(y = wo mean + bo
  mean[s]: columns h D .. h D + D-1 are the mean over t of v[g,t], weighted by the softmax over t of
           q[h,s] . k[g,t] scale;  g = floor(h / (H/K))
  q[h,s] = rows h D .. h D + D-1 of wq x[s] + bq
  k[g,t] = rows g D .. g D + D-1 of wk memory[t] + bk;  v[g,t]: the same rows of wv memory[t] + bv
  x, y        [S,M]    the sequence of queries
  memory      [T,M]    the sequence of keys and values
  wq, wk, wv  [H*D,M]  [K*D,M]  [K*D,M]  layout of torch.nn.Linear: one row per output
  bq, bk, bv  [H*D]    [K*D]    [K*D]
  wo, bo      [M,H*D]  [M]
  scale                unset: D^-1/2
  soft_cap             c: c tanh(score / c) replaces the score
  key_length           [L]: tokens of memory from L on are padding and are not read
  empty_rows           mean where all of memory is padding: zero, or unspecified)";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2 and 3.2.3 (without biases); with "
      "biases: torch.nn.MultiheadAttention";

  void Visit(auto&& v) {
    v("scale", scale);
    v("soft_cap", soft_cap);
    v("key_length", key_length);
    v("empty_rows", empty_rows);
    v("H", H);
    v("K", K);
    v("S", S);
    v("T", T);
  }
  void Check() const { MakeAttention().Check(); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& memory,
                  const MultiHeadWeights<Real>& weights, Tensor<Real>& y, Tensor<Real>& q,
                  Tensor<Real>& k, Tensor<Real>& v, Tensor<Real>& mean) const;

  Attention MakeAttention() const { return MakeAttentionOver(T); }
};

}  // namespace sextant
