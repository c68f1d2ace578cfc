// Attention of one sequence over another, with its projections: what a decoder of the original
// Transformer reads the encoder's answer by.
#pragma once

#include <string_view>

#include "reference/attention/inner_attention.h"
#include "reference/number/tensor.h"

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
      "y = wo mean + bo\n"
      "  mean[s]  = for head h = 0 .. H-1, in columns h D .. h D + D-1, the mean of v[g] weighted "
      "by\n"
      "             the softmax over t of q[h,s] . k[g,t] scale;  g = floor(h / (H/K))\n"
      "  q[h,s], k[g,t], v[g,t] = rows h D .. h D + D-1 of wq x[s] + bq; rows g D .. of\n"
      "             wk memory[t] + bk and of wv memory[t] + bv\n"
      "  x, y        [S,M]    the sequence that asks\n"
      "  memory      [T,M]    the sequence that is read\n"
      "  wq, wk, wv  [H*D,M]  [K*D,M]  [K*D,M]  as torch.nn.Linear has them: a row per output;\n"
      "              bq, bk, bv as long as they are high\n"
      "  wo, bo      [M,H*D]  [M]\n"
      "  scale                unset: D^-1/2\n"
      "  soft_cap             c tanh(score / c) in place of the score\n"
      "  key_length           [L]: the first L tokens of memory are read, the rest is padding\n"
      "  empty_rows           what mean is where nothing is read: zero, or not specified";
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
  void Check() const { Attending().Check(); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& memory, const Tensor<Real>& wq,
                  const Tensor<Real>& bq, const Tensor<Real>& wk, const Tensor<Real>& bk,
                  const Tensor<Real>& wv, const Tensor<Real>& bv, const Tensor<Real>& wo,
                  const Tensor<Real>& bo, Tensor<Real>& y, Tensor<Real>& q, Tensor<Real>& k,
                  Tensor<Real>& v, Tensor<Real>& mean) const;

  Attention Attending() const { return Over(T); }
};

}  // namespace sextant
