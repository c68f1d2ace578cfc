// Activations: elementwise functions between two linear layers.
#pragma once

#include <array>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class ActivationKind { kSigmoid, kSwish, kGelu, kGeluTanh, kRelu, kRelu2, kTanh };
constexpr std::array<std::string_view, 7> NamesOf(ActivationKind) {
  return {"sigmoid", "swish", "gelu", "gelu_tanh", "relu", "relu2", "tanh"};
}

// The activation function itself, in step `activation`, for every operation that applies one. Exact
// types use forms without cancellation. For gelu, the other types use the form that the recipe
// gives for the step.
template <class Real>
class ActivationFunction {
 public:
  explicit ActivationFunction(ActivationKind kind, double beta = 1);
  Real operator()(const Real& x) const;

 private:
  Real Gelu(const Real& x) const;
  Real GeluTanh(const Real& x) const;

  ActivationKind kind_;
  Real beta_;
  // Constants of the formula, not rounded yet.
  Real root_half_;         // 1 / sqrt(2)
  Real root_two_over_pi_;  // sqrt(2 / pi)
  Real cubic_;             // 0.044715
};

// max(x, 0), exact.
template <class Real>
Real Relu(const Real& x);

struct Activation {
  static constexpr std::string_view kName = "activation";
  static constexpr std::string_view kSignature = "x[N,F] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF";
  static constexpr std::string_view kSteps = "activation";
  static constexpr std::string_view kDraw = "x=normal(3)";
  static constexpr std::string_view kChoices =
      "kind=sigmoid|swish|gelu|gelu_tanh|relu|relu2|tanh beta=1|1.702|2|0 N=3|1|5 F=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y = f(x), element by element, with s(t) = 1 / (1 + e^-t):\n"
      "  sigmoid    s(x)\n"
      "  swish      x s(beta x)              SiLU for beta = 1\n"
      "  gelu       x (1 + erf(x / sqrt 2)) / 2\n"
      "  gelu_tanh  x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2\n"
      "  relu       max(x, 0);  relu2  its square\n"
      "  tanh       tanh x\n"
      "  x, y  [N,F]  without a unit\n"
      "  beta         swish only\n"
      "A recipe chooses the form of gelu:\n"
      "  activation=T:erf             the default; for x far below 0 the absolute error of 1 + "
      "erf\n"
      "  activation=T:erfc            the relative error of erfc(-x / sqrt 2)\n"
      "  activation=T:erf_absolute/4  an erf with an absolute error of 4 ulps of 1, as in oneDNN";
  static constexpr std::string_view kSource =
      "swish: Ramachandran, Zoph and Le 2017, arXiv:1710.05941; gelu, gelu_tanh: Hendrycks and "
      "Gimpel 2016, arXiv:1606.08415, section 2; relu2: So et al. 2021, arXiv:2109.08668";

  ActivationKind kind{};
  double beta = 1;
  void Visit(auto&& v) {
    v("kind", kind, kRequired);
    v("beta", beta);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const;
};

}  // namespace sextant
