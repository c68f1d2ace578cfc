// A whole LLaMA-style decoder: embedding, blocks, last norm, logits.
#pragma once

#include <string_view>

#include "reference/block/block_tensors.h"
#include "reference/block/decoder_block_attributes.h"

namespace sextant {

template <class Real>
struct DecoderWeights {
  Tensor<Real> table;
  BlockWeights<Real> blocks;  // stacks along a leading axis
  Tensor<Real> last_norm;
  Weights<Real> head;

  void Visit(auto&& v) {
    v("table", table);
    blocks.Visit(v);
    v("last_norm", last_norm);
    v("head", head);
  }
};

struct Decoder : DecoderBlockAttributes {
  static constexpr std::string_view kName = "decoder";
  static constexpr std::string_view kSignature =
      "token:i64[S] position:i64[S] table[V,M] attn_norm:wide[L,M] wq[L,H*D,M] wk[L,K*D,M] "
      "wv[L,K*D,M] wo[L,M,H*D] mlp_norm:wide[L,M] gate[L,F,M] up[L,F,M] down[L,M,F] "
      "last_norm:wide[M] head[V,M] -> logits:wide[S,V] states?[L+1,S,M]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kDraw =
      "token=random_positions(V) position=sequence table=normal attn_norm=near_one wq=normal(0.5) "
      "wk=normal(0.5) wv=normal(0.5) wo=normal(0.5) mlp_norm=near_one gate=normal(0.5) "
      "up=normal(0.5) down=normal(0.5) last_norm=near_one head=normal(0.5)";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|500000 "
      "scaling=none|linear(factor=8)|dynamic(factor=4,max_position_embeddings=4) seq_len=|16 "
      "offset=0|1|2 direction=forward|transpose eps=1e-05|0.1 unit_offset=false|true "
      "kind=swiglu|geglu_tanh placement=pre|branch|parallel scale=|0.5 soft_cap=|2 "
      "mask=causal|none window=|[1,0] chunk=|2 key_length=|[2] segments=|[2] "
      "empty_rows=unspecified|zero embedding_scale=1|2 logit_cap=|2 "
      "V=7|5 L=2|1|3 S=3|1|4 M=4|6 H=2|1|4 K=1|2 D=4|2 R=2|4 F=3|5";
  static constexpr std::string_view kFormula =
      R"(states[0] = embedding_scale table[token];  states[l+1] = decoder_block_l(states[l])
logits = head last_norm(states[L]);  c tanh(logits / c) if logit_cap=c
  token, position  [S]      token: index of a row of table, 0 .. V-1
  table, head      [V,M]    tied embeddings: give the same tensor twice
  logits           [S,V]    f32 where the weights have 16 bits. Logits rounded to 16 bits (Hugging
                            Face) conform to a recipe that permits it: 'native store=bf16' or
                            store=f16, with logit_cap also cap=T
  states           [L+1,S,M]
  weights          as in decoder_block, with block l at index l of a leading axis; all blocks have
                   the same attributes)";
  static constexpr std::string_view kSource =
      "Touvron et al. 2023, arXiv:2302.13971, section 2.2; embedding_scale and logit_cap: Gemma 2, "
      "arXiv:2408.00118";

  double embedding_scale = 1;
  std::optional<double> logit_cap{};
  void Visit(auto&& v) {
    VisitPlaced<PlainPlacement>(v);
    v("embedding_scale", embedding_scale);
    v("logit_cap", logit_cap);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<double>& token, const Tensor<double>& position,
                  const DecoderWeights<Real>& weights, Tensor<Real>& logits,
                  Tensor<Real>& states) const;
};

}  // namespace sextant
