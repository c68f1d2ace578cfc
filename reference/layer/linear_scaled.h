// A linear layer whose weight, and perhaps x, are codes with a scale for each block.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

struct LinearScaled {
  static constexpr std::string_view kName = "linear_scaled";
  static constexpr std::string_view kSignature =
      "x:operand[N,B,G,M] weight:code[F,A,G,M] weight_scale:scale[F,G] x_scale:scale?[N,G] "
      "bias?[F,A] weight_zero:i64?[F,G] x_zero:i64?[N,G] -> y[N,B,F,A]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "dot scale sum bias";
  static constexpr std::string_view kDraw =
      "x=normal(3) weight=normal(3) weight_scale=near_one x_scale=near_one bias=normal "
      "weight_zero=random_positions(8) x_zero=random_positions(8)";
  static constexpr std::string_view kChoices =
      "with=|x_scale|bias|x_scale,bias|weight_zero|x_scale,weight_zero,x_zero "
      "dtype.x=f32|bf16|f8_e4m3fn|f8_e5m2|i8 "
      "dtype.weight=f8_e4m3fn|f8_e4m3fnuz|f4_e2m1|i8|i4 dtype.weight_scale=f32|f16|e8m0 "
      "N=3|1|2 B=1|2|3 F=2|1|5 A=1|2|3 G=2|1|4 M=8|1|7|16|33";
  static constexpr std::string_view kFormula =
      R"(y[n,b,f,a] = sum_g p[n,b,f,a,g] x_scale[n,g] weight_scale[f,g] + bias[f,a]
p[n,b,f,a,g] = sum_m (x[n,b,g,m] - x_zero[n,g]) (weight[f,a,g,m] - weight_zero[f,g])
  x             [N,B,G,M]  codes (dtype.x=), or numbers of the dtype of the case
  weight        [F,A,G,M]  codes; one row per output. Blocks are x[n,:,g,:] and weight[f,:,g,:], as in
                           `quantize`: a scale for each row is G=1, groups of 128 are A=1 M=128, blocks
                           of 128 x 128 A=128 M=128. Row-major, y is [rows of x, rows of the weight]
  weight_scale  [F,G]
  x_scale       [N,G]      1 without with=x_scale
  bias          [F,A]      unit of y; 0 without with=bias
  weight_zero   [F,G]      of a weight of i8 or i4; 0 without with=weight_zero. Codes and zero points
                           without a sign are given less 128, or less 8
  x_zero        [N,G]      likewise of x
A recipe says where the scales are multiplied, or permits both:
  scale=f32:blocks    the sum of each block by both scales
  scale=F:operands    x and the weight before their products, each rounded to the format F)";
  static constexpr std::string_view kSource =
      "sums of blocks: deepseek-ai/DeepGEMM, vllm-project/vllm csrc/quantization (scaled_mm), "
      "ggml-org/ggml src/ggml-cpu (vec_dot_q8_0_q8_0); operands: vllm-project/vllm "
      "csrc/quantization/gptq_marlin, AWQ (arXiv:2306.00978)";

  OptionalInputs with{};
  void Visit(auto&& v) { v(kWith, with); }
  void CheckTypes(const std::map<std::string, DType>& given) const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& weight,
                  const Tensor<Real>& weight_scale, const Tensor<Real>* x_scale,
                  const Tensor<Real>* bias, const Tensor<Real>* weight_zero,
                  const Tensor<Real>* x_zero, Tensor<Real>& y) const;
};

}  // namespace sextant
