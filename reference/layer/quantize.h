// Quantization: blocks of numbers as codes of 8 or 4 bits and one scale each.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/rounded/choice.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// How the scale follows from the largest magnitude of its block.
enum class ScaleRule { kQuotient, kFloor, kUp, kEven, kOne };
constexpr std::array<std::string_view, 5> NamesOf(ScaleRule) {
  return {"quotient", "floor", "up", "even", "one"};
}
enum class Ties { kEven, kAway };
constexpr std::array<std::string_view, 2> NamesOf(Ties) { return {"even", "away"}; }
// The scale by which codes are computed.
enum class CodesBy { kStored, kUnrounded };
constexpr std::array<std::string_view, 2> NamesOf(CodesBy) { return {"stored", "unrounded"}; }

struct Quantize {
  static constexpr std::string_view kName = "quantize";
  static constexpr std::string_view kSignature =
      "x[N,A,G,M] tensor_scale:wide?[1] -> scale:scale[N,G] codes:code[N,A,G,M]";
  static constexpr std::string_view kSlices = "NG";
  static constexpr std::string_view kSteps = "quantize";
  static constexpr std::string_view kDraw = "x=normal tensor_scale=near_one";
  static constexpr std::string_view kChoices =
      "with=|tensor_scale limit=|224 least=0|0.0001 scale_rule=quotient|floor|up|even|one "
      "ties=even|away "
      "codes_by=stored|unrounded "
      "dtype.codes=f8_e4m3fn|f8_e5m2|f8_e4m3fnuz|f8_e5m2fnuz|f4_e2m1|i8|i4 "
      "dtype.scale=f32|f16|f8_e4m3fn|e8m0 "
      "N=3|1|5 A=1|2|3 G=2|1|5 M=8|1|7|16|33";
  static constexpr std::string_view kFormula =
      R"(codes = x / (scale * tensor_scale), limited to -limit and limit, to nearest in the type of codes,
        which has no larger one than its largest number
scale = by scale_rule, of amax: the largest |x| of the block, or `least` if that is larger
  quotient  amax / limit / tensor_scale, at most the largest number of its type if that has no
            infinity
  floor     2^(e - emax),  2^e <= amax < 2^(e+1),  emax: the same of limit
  up        the smallest power of two with amax / scale <= limit
  even      as floor, of amax rounded to the significand bits of codes, which are floating-point
            numbers, to nearest and even
  one       1: all of it is tensor_scale, a static scale
  x, codes  [N,A,G,M]  a block is x[n,:,g,:]. Row-major, so that no number moves: tokens with a scale
                       each are [tokens,1,1,hidden], groups of 128 [tokens,1,hidden/128,128], blocks
                       of 128 x 128 [rows/128,128,columns/128,128], one scale for all [1,1,1,all]
  scale     [N,G]      unit of x, or with tensor_scale a number
  tensor_scale [1]     unit of x; 1 without with=tensor_scale. NVFP4: dtype.codes=f4_e2m1
                       dtype.scale=f8_e4m3fn, of the whole tensor amax / (448 * 6)
  limit                the largest number of the type of codes, unless it is given. Of i8 and i4 up
                       to 1 above it, so that the smallest number is a code, too: 127.5, 128
  least                unit of x
  ties                 of codes: even, or away from 0
  codes_by             stored: scale is the answered one. unrounded: the quotient before it is
                       rounded to the type of scale
dtype.codes=: a type of 8 or 4 bits, f8_e4m3fn unless it is given. dtype.scale=: of e8m0 powers of
two alone, and the smallest one, 2^-127, for what is below it.
A code is a choice: each is right that is the rounding of a number which the recipe permits before
that rounding, for the scale that was answered. Beside a tie these are two; an exact tie has one.
A scale that is a power of two is a choice, too. Codes of a scale that is 0 are unspecified.
A recipe says how codes and scales are computed, or permits all ways:
  quantize=f32:divide      x / scale; the scale is a quotient
  quantize=f32:reciprocal  x * (1 / scale)
  quantize=f32:inverse     x * (limit / amax)
With tensor_scale the last two multiply by its reciprocal, which they may be given instead of it.
With one of these a power of two is found by the exponent of a number, else also by log2 of it.)";
  static constexpr std::string_view kSource =
      "divide: vllm-project/vllm csrc/quantization/w8a8/fp8/common.cu (scales per token); "
      "reciprocal: the same (static scales); inverse, least=0.0001: deepseek-ai/DeepGEMM "
      "deep_gemm/utils/math.py (per_token_cast_to_fp8); limit=224 of e4m3fnuz: vLLM on ROCm; "
      "limit=127.5: pytorch/pytorch torch/ao/quantization/observer.py (symmetric qint8); "
      "ties=away, codes_by=unrounded: ggml-org/ggml src/ggml-quants.c (quantize_row_q8_0_ref); "
      "floor: OCP Microscaling Formats (MX) 1.0, 6.3; up: NVIDIA/TransformerEngine MXFP8, DeepGEMM "
      "(ceil_to_ue8m0); tensor_scale: vllm-project/vllm csrc/quantization/fp4; even: "
      "pytorch/ao torchao/prototype/mx_formats (ScaleCalculationMode); types: OFP8 1.0, MX 1.0, "
      "arXiv:2206.02915";

  OptionalInputs with{};
  std::optional<double> limit{};  // unset: of the type of codes
  double least = 0;
  ScaleRule scale_rule{};
  Ties ties{};
  CodesBy codes_by{};
  static constexpr size_t kRoundedOutput = 1;
  DType rounded_dtype = DType::kF8E4M3FN;  // of codes (rounding_operation.h)
  DType scale_dtype = DType::kF32;
  void Visit(auto&& v) {
    v(kWith, with);
    v("limit", limit);
    v("least", least);
    v("scale_rule", scale_rule);
    v("ties", ties);
    v("codes_by", codes_by);
  }
  void Check() const;
  void CheckTypes(const std::map<std::string, DType>& given) const;
  double Limit() const { return limit.value_or(MaxFinite(rounded_dtype)); }
  double LargestCode() const { return std::min(Limit(), MaxFinite(rounded_dtype)); }
  Choice ChoiceOf(size_t output) const {
    if (output == kRoundedOutput)
      return ties == Ties::kAway ? Choice::kNearestAway : Choice::kNearestEven;
    return scale_rule == ScaleRule::kQuotient || scale_rule == ScaleRule::kOne ? Choice::kNone
           : scale_rule == ScaleRule::kUp                                      ? Choice::kPowerAbove
                                          : Choice::kPowerBelow;
  }
  // Of a scale that is a power of two: what `floor` and `even` round down to it, and the scale.
  double BeforeFloor(double amax) const;
  double PowerFor(double amax) const;
  // A quotient that is limited, as it is stored in scale_dtype.
  double StoredQuotient(double amax, double tensor_scale) const;
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const;

  // The attributes of an operation that ends with quantize.
  void VisitAtEnd(auto&& v) {
    v("codes_limit", limit);
    v("least", least);
    v("scale_rule", scale_rule);
  }
  // Quantizes what another operation computed, y[N,A,G,M], as it is stored between two operations
  // (step keep). The outputs have the numbers of scale[N,G] and codes[N,A,G,M], in any shape.
  template <class Real>
  void QuantizeStored(Tensor<Real> y, const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                      Tensor<Real>& codes) const;

 private:
  template <class Number, class Real>
  void QuantizeNumbers(const Tensor<Number>& x, const Tensor<Real>* tensor_scale,
                       Tensor<Real>& scale, Tensor<Real>& codes) const;
};
// The lines of such an operation about its outputs.
inline constexpr char kQuantizedFormula[] =
    R"(y is not answered. It is quantized as by `quantize`, with its scale_rule= and least=;
codes_limit= is its limit=.
A recipe says in which format y is kept (keep=). One that rounds it permits kernels that do not:
keep=T, the default of 16 bits, permits both; keep=f32 permits y that is not rounded.)";

}  // namespace sextant
