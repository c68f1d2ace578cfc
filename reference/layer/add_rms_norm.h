// Adds a residual and normalises the sum by its root mean square.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The norm reads the sum as it is stored. Every implementation rounds the sum of two numbers of one
// format to the same result. So `sum` is the correctly rounded sum in its dtype, for exact
// arithmetic and for every recipe: its permitted error is 0, and y is the norm of the rounded sum.
// Kernels that normalise the sum before they round it (flashinfer's FusedAddRMSNorm) compute a
// different y in f16 and bf16: defect `norm_of_unrounded_sum`. A recipe with keep=f32 permits this
// difference.
struct AddRmsNorm {
  static constexpr std::string_view kName = "add_rms_norm";
  static constexpr std::string_view kSignature =
      "x[N,M] residual[N,M] weight:wide[M] -> y[N,M] sum[N,M]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "keep square sum rsqrt scale weigh";
  static constexpr std::string_view kDraw = "x=normal residual=normal weight=near_one";
  static constexpr std::string_view kChoices =
      "eps=1e-05|0.1|1e-08 unit_offset=false|true N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "sum = x + residual, rounded to its dtype; y = rms_norm(sum):\n"
      "y_j = sum_j / sqrt(mean_k(sum_k^2) + eps) * w_j,  w_j = weight_j, or 1 + weight_j if "
      "unit_offset\n"
      "  x, residual, sum, y  [N,M]  y has the unit of weight\n"
      "  weight               [M]\n"
      "  eps                         unit of x^2; added inside the root";
  static constexpr std::string_view kSource =
      "the order of huggingface/transformers models/llama/modeling_llama.py (LlamaDecoderLayer): "
      "the residual is added and stored, then normalised; as one kernel: vllm-project/vllm "
      "csrc/layernorm_kernels.cu (fused_add_rms_norm)";

  double eps = 1e-5;
  bool unit_offset = false;
  static constexpr size_t kRoundedOutput = 1;
  DType rounded_dtype = DType::kF32;  // `sum` is rounded to this dtype (rounding_operation.h)
  void Visit(auto&& v) {
    v("eps", eps);
    v("unit_offset", unit_offset);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<double>& residual,
                  const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const;
};

}  // namespace sextant
