// A linear layer: dot products of the rows of x with the rows of a weight.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kSignature = "x[N,M] weight[F,M] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "dot";
  static constexpr std::string_view kDraw = "x=normal weight=uniform";
  static constexpr std::string_view kChoices = "N=3|1|4 F=5|1|2|7|16 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y[n,f] = sum_m x[n,m] weight[f,m]\n"
      "  x       [N,M]\n"
      "  weight  [F,M]  one row per output; unit of y = unit of x times unit of weight\n"
      "  y       [N,F]  0 where M is 0";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 2 (projections), with the weight layout of "
      "PyTorch's torch.nn.Linear";

  void Visit(auto&&) {}
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& weight, Tensor<Real>& y) const;
};

}  // namespace sextant
