// Log-n attention: scales queries beyond the trained context by the logarithm of their position.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct LogNScale {
  static constexpr std::string_view kName = "log_n_scale";
  static constexpr std::string_view kSignature = "q[B,H,S,D] position:i64[S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "factor table weigh";
  static constexpr std::string_view kDraw = "q=normal position=random_positions(131072)";
  static constexpr std::string_view kChoices =
      "original_max_position_embeddings=2048|16|1000|2 B=1|2 H=1|3 S=1|5 D=4|7|16|34";
  static constexpr std::string_view kFormula =
      "y = q max(1, ln(p + 1) / ln L), p = position[s]; y = q for every p < L, also for p < 0\n"
      "  q, y      [B,H,S,D]  same unit\n"
      "  position  [S]        tokens, counted from 0\n"
      "  L                    original_max_position_embeddings, tokens; 2 or more";
  static constexpr std::string_view kSource =
      "QwenLM/Qwen, modeling_qwen.py (logn_tensor); Chiang and Cholak 2022, arXiv:2202.12172, "
      "section 5.3";

  int64_t original_max_position_embeddings = 0;
  void Visit(auto&& v) {
    v("original_max_position_embeddings", original_max_position_embeddings, kRequired);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant
