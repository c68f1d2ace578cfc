// Root mean square normalisation of rows, answered as codes.
#pragma once

#include <string_view>

#include "reference/base/joined_text.h"
#include "reference/layer/quantize.h"
#include "reference/layer/rms_norm.h"

namespace sextant {

struct RmsNormQuantize : RmsNorm, Quantize {
  static constexpr std::string_view kName = "rms_norm_quantize";
  static constexpr std::string_view kSignature =
      "x[N,G,M] weight:wide[G,M] residual?[N,G,M] tensor_scale:wide?[1] -> "
      "scale:scale[N,G] codes:code[N,G,M]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "square sum rsqrt scale weigh keep quantize";
  static constexpr std::string_view kDraw =
      "x=normal weight=near_one residual=normal tensor_scale=near_one";
  static constexpr std::string_view kChoices =
      "with=|residual|tensor_scale|residual,tensor_scale eps=1e-05|0.1 unit_offset=false|true "
      "codes_limit=|4 least=0|0.0001 scale_rule=quotient|up|one dtype.codes=f8_e4m3fn|f4_e2m1|i8 "
      "dtype.scale=f32|f8_e4m3fn|e8m0 N=3|1|5 G=1|2|3 M=8|1|7|16|33";
  static constexpr auto kFormula = JoinTexts(
      R"(codes, scale = quantize(y),  y = rms_norm(s),  s = x, or with=residual x + residual:
y_j = s_j / sqrt(mean_k(s_k^2) + eps) * w_j,  w_j = weight_j, or 1 + weight_j if unit_offset
  x, residual, y  [N,G,M]  a row is all of x[n], its blocks are x[n,g]: one scale for each token is
                           G=1, groups of 128 are M=128
  weight          [G,M]
  scale           [N,G]    unit of weight, or with tensor_scale a number
  codes           [N,G,M]
  tensor_scale    [1]      unit of weight; 1 without with=tensor_scale
  eps                      unit of x^2; added inside the root
)",
      kQuantizedFormula);
  static constexpr std::string_view kSource =
      "vllm-project/vllm "
      "csrc/quantization/fused_kernels/fused_layernorm_dynamic_per_token_quant.cu "
      "(rms_norm_dynamic_per_token_quant, with a residual), csrc/layernorm_quant_kernels.cu "
      "(rms_norm_static_fp8_quant: scale_rule=one)";

  void Visit(auto&& v) {
    v(kWith, with);
    RmsNorm::Visit(v);
    Quantize::VisitAtEnd(v);
  }
  void Check() const {
    RmsNorm::Check();
    Quantize::Check();
  }
  // x, or x + residual, as rows[N,G*M].
  template <class Real>
  static Tensor<Real> RowsOf(const Tensor<Real>& x, const Tensor<Real>* residual);
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>* residual,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale, Tensor<Real>& codes) const;
};

}  // namespace sextant
