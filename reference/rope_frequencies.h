// The rotary frequencies of a configuration.
#pragma once

#include <string_view>

#include "reference/scaling.h"
#include "reference/tensor.h"

namespace sextant {

struct RopeFrequencies {
  static constexpr std::string_view kName = "rope_frequencies";
  static constexpr std::string_view kSignature = "-> inv_freq:wide[R/2] attention_factor:wide[]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kSteps = "exponent frequency";
  static constexpr std::string_view kDraw = "";
  static constexpr std::string_view kChoices =
      "base=10000|500000|150000|2 "
      "scaling=none|linear(factor=8)|llama3(factor=8)|llama3(factor=32)|linear(factor=2.5) "
      "R=2|4|6|64|96|128";
  static constexpr std::string_view kFormula =
      "inv_freq[k] = scaling(base^(-2k/R)), attention_factor = 1 for none, linear, llama3\n"
      "  inv_freq          [R/2]  radians per token\n"
      "  attention_factor  []     amplitude of cos and sin";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, section 3.2.2; scalings: reference/scaling.h";

  double base = 10000;
  RopeScaling scaling;
  void Visit(auto&& v) {
    v("base", base);
    v("scaling", scaling);
  }
  void Check() const;
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const;
};

}  // namespace sextant
