// Soft caps: a smooth limit of scores and logits.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// cap tanh(x / cap), in step `cap`, for every operation with a soft cap. Implementations divide by
// the cap or multiply by its rounded reciprocal; the permitted error covers both.
template <class Real>
class SoftCapFunction {
 public:
  explicit SoftCapFunction(double cap);
  Real operator()(const Real& x) const;

 private:
  Real cap_, divisor_;
};

struct SoftCap {
  static constexpr std::string_view kName = "soft_cap";
  static constexpr std::string_view kSignature = "x[N,M] -> y[N,M]";
  static constexpr std::string_view kSlices = "NM";
  static constexpr std::string_view kSteps = "cap";
  static constexpr std::string_view kDraw = "x=normal(30)";
  static constexpr std::string_view kChoices = "cap=50|30|1|0.7 N=3|1|5 M=7|1|2|16|33|64";
  static constexpr std::string_view kFormula =
      "y = cap tanh(x / cap), element by element\n"
      "  x, y  [N,M]  scores or logits\n"
      "  cap          same unit; |y| < cap";
  static constexpr std::string_view kSource =
      "Gemma 2, arXiv:2408.00118, section 2 (50 for attention, 30 for the final logits)";

  double cap = 0;
  void Visit(auto&& v) { v("cap", cap, kRequired); }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const;
};

}  // namespace sextant
