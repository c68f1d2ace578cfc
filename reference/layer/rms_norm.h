// Root mean square normalisation of rows.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  static constexpr std::string_view kSignature = "x[N,M] weight:wide[M] -> y[N,M]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "square sum rsqrt scale weigh";
  static constexpr std::string_view kDraw = "x=normal weight=near_one";
  static constexpr std::string_view kChoices =
      "eps=1e-05|0.1|1e-08 unit_offset=false|true N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y_j = x_j / sqrt(mean_k(x_k^2) + eps) * w_j,  w_j = weight_j, or 1 + weight_j if "
      "unit_offset\n"
      "  x, y    [N,M]  y has the unit of weight\n"
      "  weight  [M]\n"
      "  eps            unit of x^2; added inside the root";
  static constexpr std::string_view kSource =
      "Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4, with eps as in meta-llama/llama-models "
      "models/llama3/model.py (RMSNorm); unit_offset: google/gemma_pytorch gemma/model.py";

  double eps = 1e-5;
  bool unit_offset = false;
  void Visit(auto&& v) {
    v("eps", eps);
    v("unit_offset", unit_offset);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const;
};

}  // namespace sextant
