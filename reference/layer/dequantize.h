// The numbers that codes of 8 or 4 bits and a scale for each block stand for.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct Dequantize {
  static constexpr std::string_view kName = "dequantize";
  static constexpr std::string_view kSignature =
      "codes:code[N,A,G,M] scale:scale[N,G] tensor_scale:wide?[1] zero:i64?[N,G] -> y[N,A,G,M]";
  static constexpr std::string_view kSlices = "NG";
  static constexpr std::string_view kSteps = "scale";
  static constexpr std::string_view kDraw =
      "codes=normal(30) scale=near_one tensor_scale=near_one zero=random_positions(8)";
  static constexpr std::string_view kChoices =
      "with=|tensor_scale|zero dtype.codes=f8_e4m3fn|f8_e5m2|f8_e4m3fnuz|f8_e5m2fnuz|f4_e2m1|i8|i4 "
      "dtype.scale=f32|f16|f8_e4m3fn|e8m0 "
      "N=3|1|5 A=1|2|3 G=2|1|5 M=8|1|7|16|33";
  static constexpr std::string_view kFormula =
      "y = (codes - zero) * scale * tensor_scale\n"
      "  codes, y  [N,A,G,M]  a block is codes[n,:,g,:], as in `quantize`\n"
      "  scale     [N,G]      unit of y, or with tensor_scale a number\n"
      "  tensor_scale [1]     unit of y; 1 without with=tensor_scale\n"
      "  zero      [N,G]      of codes of i8 or i4; 0 without with=zero. Codes and zero points "
      "without\n"
      "                       a sign are given less 128, or less 8\n"
      "dtype.codes=: a type of codes, f8_e4m3fn unless it is given. dtype.scale=: e8m0 has powers\n"
      "of two alone, from 2^-127 on. Where a code or a scale is NaN or an infinity, y is not "
      "finite.";

  static constexpr bool kKeepsNonfinite = true;
  static constexpr std::string_view kSource =
      "Micikevicius et al. 2022, arXiv:2209.05433, section 4; vllm-project/vllm "
      "csrc/quantization/w8a8/fp8; zero: ONNX DequantizeLinear; types: OFP8 1.0, OCP Microscaling "
      "Formats (MX) 1.0, "
      "arXiv:2206.02915";

  OptionalInputs with;
  void Visit(auto&& v) { v(kWith, with); }
  void CheckTypes(const std::map<std::string, DType>& given) const;
  template <class Real>
  void operator()(const Tensor<double>& codes, const Tensor<Real>& scale,
                  const Tensor<Real>* tensor_scale, const Tensor<Real>* zero,
                  Tensor<Real>& y) const;
};

}  // namespace sextant
