// Quantization: blocks of numbers as codes of 8 bits and one scale each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct Quantize {
  static constexpr std::string_view kName = "quantize";
  static constexpr std::string_view kSignature =
      "x[N,A,G,M] -> scale:wide[N,G] codes:code[N,A,G,M]";
  static constexpr std::string_view kSlices = "NG";
  static constexpr std::string_view kSteps = "quantize";
  static constexpr std::string_view kDraw = "x=normal";
  static constexpr std::string_view kChoices =
      "limit=|224 least=0|0.0001 dtype.codes=f8_e4m3fn|f8_e5m2|f8_e4m3fnuz|f8_e5m2fnuz "
      "N=3|1|5 A=1|2|3 G=2|1|5 M=8|1|7|16|33";
  static constexpr std::string_view kFormula =
      R"(scale = max(amax, least) / limit,  amax: the largest |x| of the block
codes = x / scale, in the type of codes: to nearest, ties to even
  x, codes  [N,A,G,M]  a block is x[n,:,g,:]. Row-major, so that no number moves: tokens with a scale
                       each are [tokens,1,1,hidden], groups of 128 [tokens,1,hidden/128,128], blocks
                       of 128 x 128 [rows/128,128,columns/128,128], one scale for all [1,1,1,all]
  scale     [N,G]      unit of x
  limit                the largest number of the type of codes, unless it is given
  least                unit of x
dtype.codes=: a type of 8 bits, f8_e4m3fn unless it is given.
A code is a choice: each is right that is the rounding of a number which the recipe permits before
that rounding, for the scale that was answered. Beside a tie these are two; an exact tie has one.
A recipe says how codes and scales are computed, or permits all ways:
  quantize=f32:divide      x / scale; the scale is a quotient
  quantize=f32:reciprocal  x * (1 / scale)
  quantize=f32:inverse     x * (limit / max(amax, least)))";
  static constexpr std::string_view kSource =
      "divide: vllm-project/vllm csrc/quantization/w8a8/fp8/common.cu (scales per token); "
      "reciprocal: "
      "the same (static scales); inverse, least=0.0001: deepseek-ai/DeepGEMM "
      "deep_gemm/utils/math.py (per_token_cast_to_fp8); limit=224 of e4m3fnuz: vLLM on ROCm; "
      "types: "
      "OFP8 1.0, arXiv:2206.02915";

  std::optional<double> limit{};  // unset: of the type of codes
  double least = 0;
  static constexpr size_t kRoundedOutput = 1;
  DType rounded_dtype = DType::kF8E4M3FN;  // of codes (rounding_operation.h)
  void Visit(auto&& v) {
    v("limit", limit);
    v("least", least);
  }
  void Check() const;
  void CheckTypes(const std::map<std::string, DType>& given) const;
  double Limit() const { return limit.value_or(MaxFinite(rounded_dtype)); }
  template <class Real>
  void operator()(const Tensor<double>& x, Tensor<Real>& scale, Tensor<Real>& codes) const;
};

}  // namespace sextant
