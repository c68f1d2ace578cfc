// A mixture of experts: each token is the weighted sum of the feed-forward layers that a router
// chose for it.
#pragma once

#include <array>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/layer/gated.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

// What a token's weight of an expert multiplies.
enum class Weighs { kOutput, kInput };
constexpr std::array<std::string_view, 2> NamesOf(Weighs) { return {"output", "input"}; }

// The expert at a flat index of indices[N,K], of E. Throws Error if there is none.
size_t ExpertAt(const Tensor<double>& indices, size_t slot, size_t E);

struct Experts {
  static constexpr std::string_view kName = "experts";
  static constexpr std::string_view kSignature =
      "x[N,M] indices:i64[N,K] weights:wide[N,K] gate[E,F,M] up[E,F,M] down[E,M,F] -> y[N,M] "
      "hidden?[N,K,F]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "dot activation gate keep weigh";
  static constexpr std::string_view kDraw =
      "x=normal indices=random_positions(E) weights=uniform gate=uniform up=uniform down=uniform";
  static constexpr std::string_view kChoices =
      "kind=swiglu|geglu|geglu_tanh|reglu weigh=output|input N=3|1|5 K=2|1|4 E=4|1|8 M=4|1|7 "
      "F=6|1|8";
  static constexpr std::string_view kFormula =
      "y[n] = sum_k weights[n,k] down[e] hidden[n,k],  e = indices[n,k]\n"
      "hidden[n,k] = f(gate[e] x[n]) (up[e] x[n])\n"
      "  f         as in operation `gated`, by kind\n"
      "  x, y      [N,M]\n"
      "  indices   [N,K]    of experts, 0 to E-1, in any order; as `router` answers them. An "
      "expert\n"
      "                     that all tokens share is one more index, with weight 1\n"
      "  weights   [N,K]\n"
      "  gate, up  [E,F,M]  w1 and w3 of Mixtral\n"
      "  down      [E,M,F]  w2\n"
      "  hidden    [N,K,F]  the input of the last layer\n"
      "  weigh     input: weights[n,k] multiplies x[n] before gate and up, not the output";
  static constexpr std::string_view kSource =
      "Shazeer et al. 2017, arXiv:1701.06538, eq. 1; output: huggingface/transformers "
      "models/mixtral/modeling_mixtral.py; input: models/llama4/modeling_llama4.py "
      "(Llama4TextMoe), apply_router_weight_on_input of vllm-project/vllm fused_moe";

  GateKind kind = GateKind::kSwiglu;
  Weighs weigh{};
  void Visit(auto&& v) {
    v("kind", kind);
    v("weigh", weigh);
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& indices, const Tensor<Real>& weights,
                  const Weights<Real>& gate, const Weights<Real>& up, const Weights<Real>& down,
                  Tensor<Real>& y, Tensor<Real>& hidden) const;
};

}  // namespace sextant
