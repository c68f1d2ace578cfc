// Gated linear units, answered as codes.
#pragma once

#include <string_view>

#include "reference/base/joined_text.h"
#include "reference/layer/gated.h"
#include "reference/layer/quantize.h"

namespace sextant {

struct GatedQuantize : Gated, Quantize {
  static constexpr std::string_view kName = "gated_quantize";
  static constexpr std::string_view kSignature =
      "gate[N,G,M] up[N,G,M] tensor_scale:wide?[1] -> scale:scale[N,G] codes:code[N,G,M]";
  static constexpr std::string_view kSlices = "NG";
  static constexpr std::string_view kSteps = "activation gate keep quantize";
  static constexpr std::string_view kDraw = "gate=normal(3) up=normal(3) tensor_scale=near_one";
  static constexpr std::string_view kChoices =
      "with=|tensor_scale kind=swiglu|reglu beta=1|2 limit=|1.5 alpha=|1.702 plus_one=false|true "
      "codes_limit=|4 least=0|0.0001 "
      "scale_rule=quotient|up|one dtype.codes=f8_e4m3fn|f4_e2m1|i8 "
      "dtype.scale=f32|f8_e4m3fn|e8m0 N=3|1|5 G=1|2|3 M=8|1|7|16|33";
  static constexpr auto kFormula =
      JoinTexts(R"(codes, scale = quantize(y),  y = gated(gate, up), with its kind=, beta=, limit=,
alpha= and plus_one=:  y = f(g) u, element by element
  gate, up, y   [N,G,M]  one scale for each token is G=1, groups of 128 are M=128
  scale         [N,G]    unit of y, or with tensor_scale a number
  codes         [N,G,M]
  tensor_scale  [1]      unit of y; 1 without with=tensor_scale
)",
                kQuantizedFormula);
  static constexpr std::string_view kSource =
      "vllm-project/vllm csrc/quantization/activation_kernels.cu (silu_and_mul_quant: "
      "scale_rule=one; per groups of 128 in "
      "csrc/quantization/fused_kernels/fused_silu_mul_block_quant.cu)";

  void Visit(auto&& v) {
    v(kWith, with);
    Gated::Visit(v);
    Quantize::VisitAtEnd(v);
  }
  void Check() const {
    Gated::Check();
    Quantize::Check();
  }
  template <class Real>
  void operator()(const Tensor<Real>& gate, const Tensor<Real>& up,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale, Tensor<Real>& codes) const;
};

}  // namespace sextant
