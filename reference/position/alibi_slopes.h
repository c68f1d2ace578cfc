// The slopes of attention with linear biases (ALiBi), one per head.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The slope is 2^-(max_bias numerator / denominator); the denominator is a power of two.
struct SlopeExponent {
  int64_t numerator, denominator;
};

struct AlibiSlopes {
  static constexpr std::string_view kName = "alibi_slopes";
  static constexpr std::string_view kSignature = "-> slope:wide[H]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kSteps = "exponent slope";
  static constexpr std::string_view kDraw = "";
  static constexpr std::string_view kChoices = "max_bias=8|4|16|7.5 H=8|1|2|3|12|16|40|71";
  static constexpr std::string_view kFormula =
      "slope[h] = 2^-(max_bias (h+1)/n) for h < n, where n is the largest power of two <= H;\n"
      "           2^-(max_bias (2(h-n)+1)/(2n)) for h >= n: every second slope of 2n heads\n"
      "  slope  [H]       bias per token of distance\n"
      "  max_bias         2^-max_bias is the smallest of n slopes";
  static constexpr std::string_view kSource =
      "Press, Smith and Lewis 2021, arXiv:2108.12409, section 3; other head counts: "
      "ofirpress/attention_with_linear_biases fairseq/models/transformer.py get_slopes; max_bias: "
      "ggml ops (soft_max, m0 and m1), mosaicml/llm-foundry alibi_bias_max";

  double max_bias = 8;
  void Visit(auto&& v) { v("max_bias", max_bias); }
  void Check() const;
  template <class Real>
  void operator()(Tensor<Real>& slope) const;

  // The exponent of the slope of head h, of `heads` heads.
  static SlopeExponent ExponentOf(int64_t h, int64_t heads);
};

}  // namespace sextant
