// Embedding: one row of a table per token.
#pragma once

#include <cstddef>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// Gemma multiplies by sqrt(M) rounded to the dtype of the table: scale=55.5 for M = 3072 in bf16,
// 62 for 3840. The attribute `scale` is not rounded here, so a case states the rounded value.
struct Embedding {
  static constexpr std::string_view kName = "embedding";
  static constexpr std::string_view kSignature = "token:i64[S] table[V,M] -> y[S,M]";
  static constexpr std::string_view kSlices = "SM";
  static constexpr std::string_view kSteps = "scale";
  static constexpr std::string_view kDraw = "token=random_positions(V) table=normal";
  static constexpr std::string_view kChoices =
      "scale=1|55.5|62|0.1 S=3|1|5 V=5|1|2|33 M=7|1|2|16|33";
  static constexpr std::string_view kFormula =
      "y[s,j] = table[token[s],j] * scale\n"
      "  token  [S]    integers, 0 to V - 1; others are an error\n"
      "  table  [V,M]  one row per token\n"
      "  y      [S,M]";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, section 3.4 (times sqrt(M)); rounded: "
      "huggingface/transformers models/gemma/modeling_gemma.py (normalizer)";

  double scale = 1;
  void Visit(auto&& v) { v("scale", scale); }
  template <class Real>
  void operator()(const Tensor<double>& token, const Tensor<Real>& table, Tensor<Real>& y) const;
};

// The index of the table row for token[s]. Throws Error unless 0 <= token[s] < V.
size_t RowOfToken(const Tensor<double>& token, size_t s, size_t V);

}  // namespace sextant
