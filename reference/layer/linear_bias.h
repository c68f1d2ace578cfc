// A linear layer with a bias.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct LinearBias {
  static constexpr std::string_view kName = "linear_bias";
  static constexpr std::string_view kSignature = "x[N,M] weight[F,M] bias[F] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "dot bias";
  static constexpr std::string_view kDraw = "x=normal weight=uniform bias=normal";
  static constexpr std::string_view kChoices = "N=3|1|4 F=5|1|2|7|16 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y[n,f] = sum_m x[n,m] weight[f,m] + bias[f]\n"
      "  x       [N,M]\n"
      "  weight  [F,M]  one row per output\n"
      "  bias    [F]    unit of y = unit of x times unit of weight\n"
      "  y       [N,F]";
  static constexpr std::string_view kSource =
      "PyTorch's torch.nn.Linear; Vaswani et al. 2017, arXiv:1706.03762, eq. 2 (two such layers)";

  void Visit(auto&&) {}
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const;
};

}  // namespace sextant
