// Softmax of rows.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  static constexpr std::string_view kSignature = "x[N,M] -> y[N,M]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "softmax";
  static constexpr std::string_view kDraw = "x=normal(3)";
  static constexpr std::string_view kChoices = "N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y_j = e^x_j / sum_k e^x_k\n"
      "  x  [N,M]  -infinity masks an entry: y = 0 there, and the others do not depend on it\n"
      "  y  [N,M]  unspecified where a whole row is masked";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 1; Bridle 1990, \"Probabilistic interpretation "
      "of feedforward classification network outputs\"";

  void Visit(auto&&) {}
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const;
};

}  // namespace sextant
