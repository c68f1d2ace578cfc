// A linear layer: dot products of the rows of x with the rows of a weight, with or without a bias.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kSignature = "x[N,M] weight[F,M] bias?[F] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "dot bias";
  static constexpr std::string_view kDraw = "x=normal weight=uniform bias=normal";
  static constexpr std::string_view kChoices = "with=|bias N=3|1|4 F=5|1|2|7|16 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y[n,f] = sum_m x[n,m] weight[f,m] + bias[f]\n"
      "  x       [N,M]\n"
      "  weight  [F,M]  one row per output; unit of y = unit of x times unit of weight\n"
      "  bias    [F]    unit of y; 0 without with=bias\n"
      "  y       [N,F]  0, or the bias, where M is 0";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, eq. 2 (two layers with biases; without them the "
      "projections of section 3.2.2), with the weight layout of PyTorch's torch.nn.Linear";

  OptionalInputs with;
  void Visit(auto&& v) { v(kWith, with); }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& weight, const Tensor<Real>* bias,
                  Tensor<Real>& y) const;
};

// Adds bias[f] to y[n,f], in the step bias.
template <class Real>
void AddToRows(const Tensor<Real>& bias, Tensor<Real>& y) {
  const ScopedStep at(Step::kBias);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = y.data[i] + bias(i % bias.shape[0]);
}

}  // namespace sextant
