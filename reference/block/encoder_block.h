// One block of the original Transformer encoder: self-attention and a feed-forward, each with a
// residual connection and a norm.
#pragma once

#include <array>
#include <string_view>

#include "reference/attention/inner_attention.h"
#include "reference/attention/multi_head_weights.h"
#include "reference/layer/activation.h"
#include "reference/layer/layer_norm.h"

namespace sextant {

// Where the block normalises. A is attention, F the feed-forward, N1 and N2 their norms.
enum class NormPlacement {
  kPost,  // h = N1(x + A x), y = N2(h + F h): the paper, BERT
  kPre,   // h = x + A(N1 x), y = h + F(N2 h): GPT-2, ViT
};
constexpr std::array<std::string_view, 2> NamesOf(NormPlacement) { return {"post", "pre"}; }

enum class BlockActivation { kRelu, kGelu, kGeluTanh };
constexpr std::array<std::string_view, 3> NamesOf(BlockActivation) {
  return {"relu", "gelu", "gelu_tanh"};
}

template <class Matrix, class Bias, class Norm>
struct EncoderWeightsOf {
  MultiHeadWeightsOf<Matrix, Bias> heads;
  Norm norm1_weight, norm1_bias, norm2_weight, norm2_bias;
  Matrix w1, w2;
  Bias b1, b2;

  void Visit(auto&& v) {
    heads.Visit(v);
    v("norm1_weight", norm1_weight);
    v("norm1_bias", norm1_bias);
    v("norm2_weight", norm2_weight);
    v("norm2_bias", norm2_bias);
    v("w1", w1);
    v("b1", b1);
    v("w2", w2);
    v("b2", b2);
  }
};
template <class Real>
using EncoderWeights = EncoderWeightsOf<Tensor<Real>, Tensor<Real>, Tensor<Real>>;

struct EncoderBlock : InnerAttention {
  static constexpr std::string_view kName = "encoder_block";
  static constexpr std::string_view kSignature =
      "x[S,M] position_table[S,M] wq[H*D,M] bq[H*D] wk[K*D,M] bk[K*D] wv[K*D,M] bv[K*D] "
      "wo[M,H*D] bo[M] norm1_weight:wide[M] norm1_bias:wide[M] w1[F,M] b1[F] w2[M,F] b2[M] "
      "norm2_weight:wide[M] norm2_bias:wide[M] -> y[S,M] attention_out?[S,M] middle?[S,M] "
      "hidden?[S,F]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kSteps =
      "dot bias score scale softmax weigh sum center square rsqrt activation keep";
  static constexpr std::string_view kDraw =
      "x=normal position_table=uniform wq=normal(0.5) bq=normal(0.5) wk=normal(0.5) "
      "bk=normal(0.5) wv=normal(0.5) bv=normal(0.5) wo=normal(0.5) bo=normal(0.5) "
      "norm1_weight=near_one norm1_bias=normal(0.5) w1=normal(0.5) b1=normal(0.5) "
      "w2=normal(0.5) b2=normal(0.5) norm2_weight=near_one norm2_bias=normal(0.5)";
  static constexpr std::string_view kChoices =
      "placement=post|pre kind=relu|gelu|gelu_tanh eps=1e-05|0.1 mask=none|causal key_length=|[2] "
      "empty_rows=unspecified|zero S=3|2|4 M=6|4|8 H=2|4|1 K=2|1|4 D=3|4|1|2 F=5|8|4|1";
  static constexpr std::string_view kFormula =
      R"(u = x + position_table
placement=post:  h = N1(u + A(u));  y = N2(h + F(h))
pre:             h = u + A(N1(u));  y = h + F(N2(h))
  A = cross_attention of the sequence to itself with wq, bq, ... bo
  F(z) = w2 act(w1 z + b1) + b2;  act = relu, gelu or gelu_tanh (activation)
  N1, N2 = layer_norm with norm1_weight, norm1_bias; norm2_weight, norm2_bias; eps
  x, y            [S,M]  tokens of one sequence
  position_table  [S,M]  row s: encoding of position s (sinusoidal); 0 for all blocks but the first
  wq, wk, wv, wo  [H*D,M]  [K*D,M]  [K*D,M]  [M,H*D]  as in cross_attention
  w1, b1, w2, b2  [F,M]  [F]  [M,F]  [M]
  attention_out   [S,M]  A, before it is added
  middle          [S,M]  h
  hidden          [S,F]  act(w1 z + b1)
  mask=causal            token s attends to tokens 0 .. s
  key_length             [L]: tokens from L on are padding: no token attends to them, but they
                         attend to the first L tokens
  empty_rows             mean where a token attends to nothing: zero, or unspecified)";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, section 3.1, 3.3 and 3.5; pre: Xiong et al. 2020, "
      "arXiv:2002.04745, section 3; with biases: torch.nn.TransformerEncoderLayer";

  NormPlacement placement = NormPlacement::kPost;
  BlockActivation kind = BlockActivation::kRelu;
  double eps = 1e-5;
  void Visit(auto&& v) {
    v("placement", placement);
    v("kind", kind);
    v("eps", eps);
    v("mask", mask);
    v("key_length", key_length);
    v("empty_rows", empty_rows);
    v("H", H);
    v("K", K);
    v("S", S);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& position_table,
                  const EncoderWeights<Real>& weights, Tensor<Real>& y, Tensor<Real>& attention_out,
                  Tensor<Real>& middle, Tensor<Real>& hidden) const;

  LayerNorm Norm() const { return {.eps = eps}; }
  ActivationKind FeedForwardActivation() const;
};

}  // namespace sextant
