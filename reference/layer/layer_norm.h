// Layer normalisation of rows.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The permitted error covers implementations in two passes. The error of the mean, up to
// M u |mean|, enters every x_k - mean. Where it is half the standard deviation or more, nothing can
// be judged. An implementation in one pass, E[x^2] - mean^2, has an error of u mean^2 in the
// variance instead. It conforms where |mean| is a few times the standard deviation, but not where
// |mean| is a hundred times as large (defect `one_pass`).
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  static constexpr std::string_view kSignature = "x[N,M] weight:wide[M] bias:wide[M] -> y[N,M]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "sum center square rsqrt scale weigh bias";
  static constexpr std::string_view kDraw = "x=normal weight=near_one bias=normal";
  static constexpr std::string_view kChoices = "eps=1e-05|0.1|1e-12 N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y_j = (x_j - mean) / sqrt(mean_k((x_k - mean)^2) + eps) * weight_j + bias_j, mean = "
      "mean_k(x_k)\n"
      "  x, y          [N,M]  y has the unit of weight and bias\n"
      "  weight, bias  [M]\n"
      "  eps                  unit of x^2; added inside the root";
  static constexpr std::string_view kSource =
      "Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4 (the variance is biased: over M, not "
      "M - 1), with eps as in onnx LayerNormalization-17";

  double eps = 1e-5;
  void Visit(auto&& v) { v("eps", eps); }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const;
};

}  // namespace sextant
